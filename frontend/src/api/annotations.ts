/** Annotations: deploys, maintenance and notes of people and pipelines. */

import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { annotationMark } from '~/lib/annotations'
import type { TimeRange } from '~/lib/spans'
import { once, useAction } from './action'
import { client, everyItem, page, unwrap } from './client'
import type { components } from './schema.gen'

type Schemas = components['schemas']

export type Annotation = Schemas['AnnotationRead']
/** A new annotation, or all fields of a changed one. */
export type AnnotationInput = Schemas['AnnotationUpdate'] & Pick<Schemas['AnnotationCreate'], 'kind' | 'text'>

const REFRESH_MS = 30_000
const MINUTE_MS = 60_000

export const annotationsQuery = queryOptions({
  queryKey: ['annotations'],
  queryFn: () => everyItem((cursor) => unwrap(client.GET('/v1/annotations', { params: { query: page(cursor) } }))),
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
      const query = { ...page(undefined), mesh_id: meshId, from, to }
      return (await unwrap(client.GET('/v1/annotations', { params: { query } }))).items
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
  useAction((body: AnnotationInput, key) => unwrap(client.POST('/v1/annotations', { body, headers: once(key) })), STALE)

/** Change an annotation of the version that was read. */
export const useUpdateAnnotation = ({ id, version }: Pick<Annotation, 'id' | 'version'>) =>
  useAction(
    (body: AnnotationInput) =>
      unwrap(
        client.PATCH('/v1/annotations/{annotation_id}', {
          params: { path: { annotation_id: id } },
          body,
          headers: { 'If-Match': `"${version}"` },
        }),
      ),
    STALE,
  )

export const useDeleteAnnotation = () =>
  useAction(
    (id: string) =>
      unwrap(client.DELETE('/v1/annotations/{annotation_id}', { params: { path: { annotation_id: id } } })),
    STALE,
  )
