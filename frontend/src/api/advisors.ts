/** Advisors: questions that store nothing, and price lists. */

import { keepPreviousData, type QueryKey, queryOptions } from '@tanstack/react-query'
import { Problem } from '~/lib/problem'
import { useAction } from './action'
import { get, post, put, remove } from './client'
import { listing, reading } from './query'
import type {
  ComputeMixQuestion,
  Fairness,
  PricedService,
  PriceListInput,
  ProviderPriceQuestion,
  ShapingQuestion,
  TransportQuestion,
  TreatmentQuestion,
} from './types'

export const computeMixQuery = (question: ComputeMixQuestion) =>
  queryOptions({
    queryKey: ['advisors', 'compute-mix', question],
    queryFn: () => post('/v1/advisors/compute-mix', { body: question }),
    placeholderData: keepPreviousData,
    retry: false,
  })

export const providerPricesQuery = (question: ProviderPriceQuestion) =>
  queryOptions({
    queryKey: ['advisors', 'provider-prices', question],
    queryFn: () => post('/v1/advisors/provider-prices', { body: question }),
    placeholderData: keepPreviousData,
    retry: false,
  })

export const priceListsQuery = listing(['price-lists'], '/v1/price-lists')

export const priceListSamplesQuery = reading(['price-list-samples'], '/v1/price-list-samples')

export const useImportPriceList = () =>
  useAction((body: PriceListInput, key) => post('/v1/price-lists', { body, key }), [['price-lists'], ['advisors']])

export const useDeletePriceList = () =>
  useAction(
    (id: string) => remove('/v1/price-lists/{price_list_id}', { path: { price_list_id: id } }),
    [['price-lists']],
  )

/** The price basis of an application; null without one. */
export const priceBasisQuery = (applicationId: string) =>
  queryOptions({
    queryKey: ['applications', applicationId, 'price-basis'],
    queryFn: () =>
      get('/v1/applications/{application_id}/price-basis', { path: { application_id: applicationId } }).catch(
        (error: unknown) => {
          if (error instanceof Problem && error.code === 'price_basis_unknown') return null
          throw error
        },
      ),
  })

const PRICED: QueryKey[] = [['applications'], ['recommendations']]

export const useSetPriceBasis = () =>
  useAction(
    ({ applicationId, ...asked }: { applicationId: string; body: PricedService; version?: number }) =>
      put('/v1/applications/{application_id}/price-basis', { path: { application_id: applicationId }, ...asked }),
    PRICED,
  )

export const useDeletePriceBasis = () =>
  useAction(
    (applicationId: string) =>
      remove('/v1/applications/{application_id}/price-basis', { path: { application_id: applicationId } }),
    PRICED,
  )

interface FairnessAsked {
  of: Fairness['of']
  minutes: number
  source: string | undefined
  target: string | undefined
}

export const fairnessQuery = (mesh: string, { of, minutes, source, target }: FairnessAsked) =>
  queryOptions({
    queryKey: ['meshes', mesh, 'fairness', of, minutes, ...(of === 'flows' ? [source, target] : [])],
    queryFn: () =>
      get('/v1/meshes/{mesh_id}/fairness', {
        path: { mesh_id: mesh },
        query: { of, minutes, ...(of === 'flows' ? { source: source ?? null, target: target ?? null } : {}) },
      }),
    placeholderData: keepPreviousData,
  })

export const useImportFairness = () =>
  useAction((csv: string, key) => post('/v1/advisors/fairness-imports', { body: { csv }, key }), [])

export const transportQuery = (question: TransportQuestion) =>
  queryOptions({
    queryKey: ['advisors', 'transport', question],
    queryFn: () => post('/v1/advisors/transports', { body: question }),
    placeholderData: keepPreviousData,
    retry: false,
  })

/** Treatment of the packets of a file of two mixed bursts, which 'name' stands for. */
export const treatmentQuery = (bursts: [TreatmentQuestion, TreatmentQuestion], name: string) =>
  queryOptions({
    queryKey: ['advisors', 'packet-treatments', name, bursts[0].sent_ns[0], bursts[1].sent_ns[0]],
    queryFn: () =>
      Promise.all([
        post('/v1/advisors/packet-treatments', { body: bursts[0] }),
        post('/v1/advisors/packet-treatments', { body: bursts[1] }),
      ]),
    retry: false,
  })

/** `file` is the name of the file of the bursts, which are too long for a key. */
export const shapingQuery = (question: ShapingQuestion, file: string | null) =>
  queryOptions({
    queryKey: ['advisors', 'shaping', { ...question, trains: question.trains?.map(({ sent_ns }) => sent_ns[0]) }, file],
    queryFn: () => post('/v1/advisors/token-buckets', { body: question }),
    placeholderData: keepPreviousData,
    retry: false,
  })

/** Timeouts of connections, which agents report every minute. */
export const connectionTimeoutsQuery = (mesh: string) =>
  queryOptions({
    queryKey: ['meshes', mesh, 'connection-timeouts'],
    queryFn: () => get('/v1/meshes/{mesh_id}/connection-timeouts', { path: { mesh_id: mesh } }),
    refetchInterval: 60_000,
  })

export const tailsQuery = (mesh: string) =>
  reading(['meshes', mesh, 'retransmission-tails'], '/v1/meshes/{mesh_id}/retransmission-tails', {
    path: { mesh_id: mesh },
  })
