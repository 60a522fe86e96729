/** Texts of rules. */

import type { Condition, Rule, RuleInput, RuleScope } from '~/api/rules'
import { title } from '~/lib/metrics'
import { labelled } from '~/lib/options'
import { sentenceCase } from '~/lib/text'
import { formatDelay, formatRatio } from '~/lib/units'
import { SEVERITIES } from '~/ui/severity'
import { strings } from '../strings'
import { type Draft, inputOf } from './draft'

export const KINDS: Record<Condition['kind'], string> = {
  threshold: strings.kindThreshold,
  baseline: strings.kindBaseline,
  loss: strings.kindLoss,
  spike: strings.kindSpike,
  silent: strings.kindSilent,
  performance: strings.kindPerformance,
  tokens: strings.kindTokens,
  host: strings.kindHost,
  fairness: strings.kindFairness,
}

const AMONG: Record<Condition['among'], string> = {
  vms: strings.amongVms,
  applications: strings.amongApplications,
  flows: strings.amongFlows,
}

export const AMONG_OPTIONS = labelled(AMONG).map(({ value, label }) => ({ value, label: sentenceCase(label) }))

/** Kinds that look at paths. */
const PER_PATH: readonly Condition['kind'][] = ['threshold', 'baseline', 'loss', 'spike']

/** Return true when a condition has a value over time on one path, which can be drawn. */
export const canBeDrawn = ({ kind, metric }: RuleInput['condition']) => PER_PATH.includes(kind) && metric !== 'jitter'

export const TIMESCALES: Record<Condition['timescale'], string> = {
  short: strings.baselineShort,
  long: strings.baselineLong,
  weekly: strings.baselineWeekly,
}

const amount = (metric: Condition['metric'], value: number) =>
  metric === 'loss' ? formatRatio(value) : formatDelay(value)

/** "One-way delay, p50: 5 deviations and 15 µs above the last half hour". */
export function conditionWords(condition: Condition): string {
  const { kind, metric, statistic, above, deviations, rise_ns, timescale, over_s, within_s, among, below } = condition
  const what = title(metric, statistic)
  switch (kind) {
    case 'threshold':
      return strings.conditionThreshold(what, amount(metric, above))
    case 'baseline': {
      const least = rise_ns > 0 ? strings.andAmount(amount(metric, rise_ns)) : ''
      const words = strings.conditionBaseline(what, deviations, least, TIMESCALES[timescale])
      return over_s ? strings.conditionRecurs(words, Math.round(over_s / 60)) : words
    }
    case 'loss':
      return strings.conditionLoss(formatRatio(above), Math.round((over_s ?? 0) / 60))
    case 'spike':
      return strings.conditionSpike(formatDelay(rise_ns), deviations)
    case 'silent':
      return strings.kindSilent
    case 'performance':
      if (over_s) return strings.conditionBurns(above, Math.round(over_s / 60))
      return strings.conditionPerformance(above > 0 ? `${formatRatio(above)} ` : '')
    case 'tokens':
      return strings.conditionTokens(within_s ?? 0)
    case 'host':
      return strings.conditionHost(formatRatio(above))
    case 'fairness':
      return strings.conditionFairness(AMONG[among], String(below))
  }
}

const EVERY: Partial<Record<Condition['kind'], string>> = {
  silent: strings.allAgents,
  performance: strings.allApplications,
  tokens: strings.allBuckets,
  host: strings.allHosts,
  fairness: strings.allMembers,
}

/** Describe the scope of a rule: a path must match every part. */
export function scopeWords(
  { zones, zone_pair, vms, path, labels, application }: RuleScope,
  kind?: Condition['kind'],
): string {
  const parts = [
    zones?.length ? strings.scopeZones(zones.join(', ')) : '',
    zone_pair ? strings.scopeBetween(zone_pair.join(strings.and)) : '',
    vms?.length ? strings.scopeVms(vms.join(', ')) : '',
    path ? path.join(' → ') : '',
    ...Object.entries(labels ?? {}).map(([name, value]) => `${name}=${value}`),
    application ? strings.scopeApplication(application) : '',
  ].filter(Boolean)
  return parts.length > 0 ? parts.join('; ') : ((kind && EVERY[kind]) ?? strings.allPaths)
}

/** Describe what the form of a rule edits, by field. */
export function ruleLines(draft: Draft): Record<string, string> {
  const { name, severity, condition, scope, runbook_url } = inputOf(draft)
  return {
    [strings.name]: name,
    [strings.severity]: SEVERITIES[severity].word,
    [strings.runbook]: runbook_url ?? '',
    [strings.enabled]: draft.enabled ? strings.yes : strings.no,
    [strings.condition]: conditionWords(condition),
    [strings.scope]: scopeWords(scope ?? {}, condition.kind),
    [strings.breachingWindows]: strings.breachesOutOf(Number(draft.windowsX), Number(draft.windowsY)),
    [strings.minimumVms]: draft.sourcesMin,
    [strings.pendingFor]: draft.holdS,
    [strings.keepFiringFor]: draft.keepFiringS,
  }
}

export const patienceWords = ({ windows_x, windows_y }: Rule) => strings.breachesOutOf(windows_x, windows_y)
