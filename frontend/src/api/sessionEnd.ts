/** Whether the session of this page has ended while the page is open. */

import { createStore, useStore } from '~/lib/store'

export const sessionEnd = createStore(false)

export const useSessionEnded = () => useStore(sessionEnd)
