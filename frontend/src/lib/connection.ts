/** Whether the backend responds. The API layer sets it; banners and the errors of forms follow it. */

import { createStore, useStore } from './store'

export interface Connection {
  away: boolean
  /** Time of the last change, ms. */
  since: number
}

export const connection = createStore<Connection>({ away: false, since: 0 })

export const useConnection = () => useStore(connection)
