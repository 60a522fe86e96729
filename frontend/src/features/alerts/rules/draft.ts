/** A rule while it is edited: amounts as typed, in µs, percent and seconds. */

import type { Condition, Rule, RuleInput } from '~/api/rules'
import { strings } from '../strings'

/** Characters of a name. */
export const NAME_MAX = 100

export interface Draft {
  name: string
  enabled: boolean
  severity: Rule['severity']
  kind: Condition['kind']
  metric: Condition['metric']
  statistic: Condition['statistic']
  above: string
  deviations: string
  rise: string
  timescale: Condition['timescale']
  overMin: string
  /**
   * Of a baseline: minutes in which six breaches are too many; empty for M of N windows. Of performance: minutes over
   * which the use of a contract's budget counts; empty for the distance below the objective.
   */
  recursMin: string
  withinS: string
  among: Condition['among']
  below: string
  zones: string[]
  zonePair: string[]
  vms: string[]
  path: string[]
  labels: string
  application: string
  windowsX: string
  windowsY: string
  sourcesMin: string
  holdS: string
  keepFiringS: string
  runbookUrl: string
}

/** Props of the form's parts: the draft, its setter, and errors of fields by JSON pointer. */
export interface PartProps {
  draft: Draft
  patch: (changes: Partial<Draft>) => void
  wrong: (pointer: string) => string | undefined
}

export const NEW_RULE: Draft = {
  name: '',
  enabled: true,
  severity: 'warning',
  kind: 'baseline',
  metric: 'one_way_delay',
  statistic: 'p50',
  above: '',
  deviations: '6',
  rise: '20',
  timescale: 'short',
  overMin: '60',
  recursMin: '',
  withinS: '60',
  among: 'flows',
  below: '0.883',
  zones: [],
  zonePair: [],
  vms: [],
  path: [],
  labels: '',
  application: '',
  windowsX: '2',
  windowsY: '3',
  sourcesMin: '1',
  holdS: '0',
  keepFiringS: '60',
  runbookUrl: '',
}

/** Return the factor from the typed unit to the API's: delays are typed in µs, ratios in percent. */
function unitOf(kind: Condition['kind'], metric: Condition['metric'], burns = false): { unit: string; factor: number } {
  if (kind === 'performance' && burns) return { unit: '×', factor: 1 }
  const isRatio =
    kind === 'performance' || kind === 'host' || kind === 'loss' || (kind !== 'spike' && metric === 'loss')
  return isRatio ? { unit: '%', factor: 0.01 } : { unit: 'µs', factor: 1_000 }
}

export const unitName = ({ kind, metric, recursMin }: Draft) => unitOf(kind, metric, recursMin !== '').unit

// Twelve digits: 15 % is 0.15 on the wire, not 0.15000000000000002.
const precise = (value: number) => Number(value.toPrecision(12))

/** Return the typed number; empty is zero, because fields that must not be zero are required. */
const numberOf = (text: string) => (text.trim() === '' ? 0 : Number(text))

/** "role=db, tier=1" as labels. */
function labelsOf(text: string): Record<string, string> {
  const pairs = text.split(',').flatMap((pair) => {
    const [name = '', ...rest] = pair.split('=')
    return name.trim() === '' ? [] : [[name.trim(), rest.join('=').trim()] as const]
  })
  return Object.fromEntries(pairs)
}

const pairOf = (names: string[]) => (names.length === 0 ? null : names)

function overS({ kind, overMin, recursMin }: Draft): number {
  if (kind === 'loss') return Math.round(numberOf(overMin) * 60)
  return (kind === 'baseline' || kind === 'performance') && recursMin !== '' ? Math.round(numberOf(recursMin) * 60) : 0
}

/** Return the draft in the form of the API. Fields of other kinds keep the API's defaults. */
export function inputOf(draft: Draft): RuleInput {
  const { kind, metric, statistic } = draft
  const { factor } = unitOf(kind, metric, draft.recursMin !== '')
  const amount = (text: string) => precise(numberOf(text) * factor)
  const onPath = kind === 'threshold' || kind === 'baseline'
  return {
    name: draft.name.trim(),
    enabled: draft.enabled,
    severity: draft.severity,
    condition: {
      kind,
      metric: onPath ? metric : kind === 'loss' ? 'loss' : NEW_RULE.metric,
      statistic: onPath ? statistic : NEW_RULE.statistic,
      above: ['threshold', 'loss', 'performance', 'host'].includes(kind) ? amount(draft.above) : 0,
      deviations: Number(kind === 'baseline' || kind === 'spike' ? draft.deviations : NEW_RULE.deviations),
      rise_ns: kind === 'baseline' || kind === 'spike' ? amount(draft.rise) : 0,
      timescale: kind === 'baseline' ? draft.timescale : NEW_RULE.timescale,
      over_s: overS(draft),
      within_s: kind === 'tokens' ? Math.round(numberOf(draft.withinS)) : 0,
      among: kind === 'fairness' ? draft.among : NEW_RULE.among,
      below: kind === 'fairness' ? numberOf(draft.below) : 0,
    },
    scope: {
      zones: draft.zones,
      zone_pair: pairOf(draft.zonePair),
      vms: draft.vms,
      path: pairOf(draft.path),
      labels: labelsOf(draft.labels),
      application: draft.application || null,
    },
    windows_x: Number(draft.windowsX),
    windows_y: Number(draft.windowsY),
    sources_min: Number(draft.sourcesMin),
    hold_s: Number(draft.holdS),
    keep_firing_s: Number(draft.keepFiringS),
    runbook_url: draft.runbookUrl.trim() || null,
  }
}

/** Return the draft of a rule about one path: with a limit of its one-way p50 (ns), else against its baseline. */
export function draftOfPath(source: string, target: string, aboveNs: number | undefined): Draft {
  const limit: Partial<Draft> =
    aboveNs === undefined
      ? {}
      : { kind: 'threshold', above: String(precise(aboveNs / unitOf('threshold', 'one_way_delay').factor)) }
  const name = strings.ruleOfPath(source, target).slice(0, NAME_MAX)
  return { ...NEW_RULE, ...limit, name, path: [source, target] }
}

/** Return the draft of a rule about shares; among flows of the path between two VMs, if they are given. */
export function draftOfShares(among: Draft['among'], path: string[]): Draft {
  return { ...NEW_RULE, kind: 'fairness', among, name: strings.ruleOfShares[among], path, windowsX: '3' }
}

/** Return the draft of an existing rule. */
export function draftOf(rule: Rule): Draft {
  const { condition, scope } = rule
  const { factor } = unitOf(condition.kind, condition.metric, Boolean(condition.over_s))
  const typed = (value: number) => String(precise(value / factor))
  return {
    name: rule.name,
    enabled: rule.enabled,
    severity: rule.severity,
    kind: condition.kind,
    metric: condition.metric,
    statistic: condition.statistic,
    above: typed(condition.above),
    deviations: String(condition.deviations),
    rise: typed(condition.rise_ns),
    timescale: condition.timescale,
    overMin: condition.kind === 'loss' && condition.over_s ? String(condition.over_s / 60) : NEW_RULE.overMin,
    recursMin: condition.kind !== 'loss' && condition.over_s ? String(condition.over_s / 60) : '',
    withinS: condition.within_s ? String(condition.within_s) : NEW_RULE.withinS,
    among: condition.among,
    below: condition.below ? String(condition.below) : NEW_RULE.below,
    zones: scope.zones ?? [],
    zonePair: scope.zone_pair ?? [],
    vms: scope.vms ?? [],
    path: scope.path ?? [],
    labels: Object.entries(scope.labels ?? {})
      .map(([name, value]) => `${name}=${value}`)
      .join(', '),
    application: scope.application ?? '',
    windowsX: String(rule.windows_x),
    windowsY: String(rule.windows_y),
    sourcesMin: String(rule.sources_min),
    holdS: String(rule.hold_s),
    keepFiringS: String(rule.keep_firing_s),
    runbookUrl: rule.runbook_url ?? '',
  }
}
