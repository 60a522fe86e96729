/** Queries whose data are one response as it is, or all items of a list. */

import { type QueryKey, queryOptions } from '@tanstack/react-query'
import { everyItem, get, type Reading, type Url } from './client'

/** Return the query of a GET. */
export const reading = <U extends Url<'get'>>(queryKey: QueryKey, url: U, ...asked: Reading<U>) =>
  queryOptions({ queryKey, queryFn: () => get(url, ...asked) })

/** Return the query of every item of a paged list. */
export const listing = <U extends Url<'get'>>(queryKey: QueryKey, url: U, ...asked: Reading<U>) =>
  queryOptions({ queryKey, queryFn: () => everyItem(url, ...asked) })
