/** Search parameters of the page of an application: how many VMs it needs more, and the price of one per hour. */

import { integer, number, searchParser } from '~/lib/searchParams'

export interface NextSearch {
  vms?: number
  price?: number
}

export const nextSearch = searchParser<NextSearch>({ vms: integer(1), price: number(0) })
