/** Advisors: questions that store nothing, and price lists. */

import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { once, useAction } from './action'
import { client, everyItem, page, unwrap } from './client'
import type { ComputeMixQuestion, PriceListInput, ProviderPriceQuestion } from './types'

export const computeMixQuery = (question: ComputeMixQuestion) =>
  queryOptions({
    queryKey: ['advisors', 'compute-mix', question],
    queryFn: () => unwrap(client.POST('/v1/advisors/compute-mix', { body: question })),
    placeholderData: keepPreviousData,
    retry: false,
  })

export const providerPricesQuery = (question: ProviderPriceQuestion) =>
  queryOptions({
    queryKey: ['advisors', 'provider-prices', question],
    queryFn: () => unwrap(client.POST('/v1/advisors/provider-prices', { body: question })),
    placeholderData: keepPreviousData,
    retry: false,
  })

export const priceListsQuery = queryOptions({
  queryKey: ['price-lists'],
  queryFn: () => everyItem((cursor) => unwrap(client.GET('/v1/price-lists', { params: { query: page(cursor) } }))),
})

export const priceListSamplesQuery = queryOptions({
  queryKey: ['price-list-samples'],
  queryFn: () => unwrap(client.GET('/v1/price-list-samples')),
})

export const useImportPriceList = () =>
  useAction(
    (body: PriceListInput, key) => unwrap(client.POST('/v1/price-lists', { body, headers: once(key) })),
    [['price-lists'], ['advisors']],
  )

export const useDeletePriceList = () =>
  useAction(
    (id: string) =>
      unwrap(client.DELETE('/v1/price-lists/{price_list_id}', { params: { path: { price_list_id: id } } })),
    [['price-lists']],
  )
