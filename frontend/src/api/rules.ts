/** Alert rules: queries, changes, previews and back-tests. */

import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { useAction } from './action'
import { client, get, patch, post, remove, unwrap } from './client'
import { listing } from './query'
import type { components } from './schema.gen'

type Schemas = components['schemas']

export type Rule = Schemas['RuleRead']
export type Condition = Schemas['ConditionModel']
export type RuleScope = Rule['scope']
/** The fields of a rule that a person edits; the mesh is a separate argument. */
export type RuleInput = Omit<Schemas['RuleCreate'], 'mesh_id'>

/** The result of a back-test's job: incidents the rule would have opened. */
export interface BackTestResult {
  hours: number
  by: 'windows' | 'minutes'
  incidents: number
  found: { opened_at: string; seen_at: string; culprit: { words: string }; paths: number }[]
  /** Limitations of the result, as sentences. */
  notes: string[]
}

export const rulesQuery = (meshId: string) =>
  listing(['alert-rules', { meshId }], '/v1/alert-rules', { query: { mesh_id: meshId, limit: 200 } })

export const ruleQuery = (ruleId: string) =>
  queryOptions({
    queryKey: ['alert-rules', ruleId],
    queryFn: () => get('/v1/alert-rules/{rule_id}', { path: { rule_id: ruleId } }),
    // A form may be editing it.
    refetchOnWindowFocus: false,
  })

export const useCreateRule = (meshId: string) =>
  useAction(
    (body: RuleInput, key) => post('/v1/alert-rules', { body: { ...body, mesh_id: meshId }, key }),
    [['alert-rules']],
  )

export const useChangeRule = () =>
  useAction(
    ({ rule: { id, version }, changes }: { rule: Pick<Rule, 'id' | 'version'>; changes: Partial<RuleInput> }) =>
      patch('/v1/alert-rules/{rule_id}', { path: { rule_id: id }, body: changes, version }),
    [['alert-rules']],
  )

export const useDeleteRule = () =>
  useAction((id: string) => remove('/v1/alert-rules/{rule_id}', { path: { rule_id: id } }), [['alert-rules']])

/** An edited rule on one path; requested again only when it changes. */
export const rulePreviewQuery = (meshId: string, rule: RuleInput, source: string, target: string, hours: number) => {
  const { condition, windows_x, windows_y, hold_s, keep_firing_s } = rule
  const evaluated = { condition, windows_x, windows_y, hold_s, keep_firing_s }
  const body = { ...evaluated, name: 'preview', mesh_id: meshId, source_id: source, target_id: target, hours }
  return queryOptions({
    queryKey: ['alert-rule-previews', body],
    queryFn: () => post('/v1/alert-rule-previews', { body: body as Schemas['RulePreviewCreate'] }),
    placeholderData: keepPreviousData,
    retry: false,
    staleTime: 30_000,
  })
}

export const useBackTest = (meshId: string) =>
  useAction(
    ({ rule, hours }: { rule: RuleInput; hours: number }, key) =>
      post('/v1/alert-back-tests', { body: { ...rule, mesh_id: meshId, hours }, key }),
    [['jobs']],
  )

/** The rules of a mesh as a file. */
export const rulesFile = (meshId: string) => `/v1/alert-rules/manifest?mesh_id=${encodeURIComponent(meshId)}`

export const useBringRules = (meshId: string) =>
  useAction(
    (yaml: string, key) =>
      unwrap(
        client.POST('/v1/alert-rules/manifest', {
          params: { query: { mesh_id: meshId } },
          body: yaml,
          bodySerializer: (text) => text,
          headers: { 'Content-Type': 'application/yaml', 'Idempotency-Key': key },
        }),
      ),
    [['alert-rules']],
  )
