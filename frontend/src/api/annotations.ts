/** Annotations: deploys, maintenance and notes of people and pipelines. */

import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { annotationMark } from '~/lib/annotations'
import type { TimeRange } from '~/lib/spans'
import { useAction } from './action'
import { everyItem, get, patch, post, remove } from './client'
import type { components } from './schema.gen'

type Schemas = components['schemas']

export type Annotation = Schemas['AnnotationRead']
/** A new annotation, or all fields of a changed one. */
export type AnnotationInput = Schemas['AnnotationUpdate'] & Pick<Schemas['AnnotationCreate'], 'kind' | 'text'>

const REFRESH_MS = 30_000
const MINUTE_MS = 60_000

export const annotationsQuery = queryOptions({
  queryKey: ['annotations'],
  queryFn: () => everyItem('/v1/annotations'),
  refetchInterval: REFRESH_MS,
})

/** The latest 500 annotations of a mesh, and of all meshes, that overlap a range. */
export const annotationsWithinQuery = (meshId: string, range: TimeRange) => {
  // Whole minutes: a range that ends now is one query a minute.
  const from = new Date(Math.floor(Date.parse(range.from) / MINUTE_MS) * MINUTE_MS).toISOString()
  const to = new Date(Math.ceil(Date.parse(range.to) / MINUTE_MS) * MINUTE_MS).toISOString()
  return queryOptions({
    queryKey: ['annotations', meshId, from, to],
    queryFn: async () => {
      const query = { limit: 500, mesh_id: meshId, from, to }
      return (await get('/v1/annotations', { query })).items
    },
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  })
}

/** Return the annotations of a mesh within a range as marks of a time axis. */
export function useAnnotationMarks(meshId: string, range: TimeRange) {
  const { data } = useQuery(annotationsWithinQuery(meshId, range))
  return useMemo(() => data?.map(annotationMark), [data])
}

const STALE = [['annotations']]

export const useCreateAnnotation = () =>
  useAction((body: AnnotationInput, key) => post('/v1/annotations', { body, key }), STALE)

/** Change an annotation of the version that was read. */
export const useUpdateAnnotation = ({ id, version }: Pick<Annotation, 'id' | 'version'>) =>
  useAction(
    (body: AnnotationInput) => patch('/v1/annotations/{annotation_id}', { path: { annotation_id: id }, body, version }),
    STALE,
  )

export const useDeleteAnnotation = () =>
  useAction((id: string) => remove('/v1/annotations/{annotation_id}', { path: { annotation_id: id } }), STALE)
