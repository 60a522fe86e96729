/** Rules as people read them. */

import type { Condition, Rule, RuleInput, Scope } from '~/api/rules'
import { title } from '~/lib/metrics'
import { formatDelay, formatRatio } from '~/lib/units'

export const KINDS: Record<Condition['kind'], string> = {
  threshold: 'A value above a number',
  baseline: 'A value above what is usual for the path',
  spike: 'A largest delay above the median',
  silent: 'An agent that does not report',
  performance: 'An application below its objective',
}

/** Kinds that look at paths. */
const PER_PATH: readonly Condition['kind'][] = ['threshold', 'baseline', 'spike']

/** Whether a condition has a course on a path that can be drawn. */
export const canBeDrawn = ({ kind, metric }: RuleInput['condition']) => PER_PATH.includes(kind) && metric !== 'jitter'

const TIMESCALES: Record<Condition['timescale'], string> = {
  short: 'the last half hour',
  long: 'the last days',
  weekly: 'this hour of the week',
}

export const TIMESCALE_OPTIONS = Object.entries(TIMESCALES).map(([value, label]) => ({ value, label }))

const amount = (metric: Condition['metric'], value: number) =>
  metric === 'loss' ? formatRatio(value) : formatDelay(value)

/** "One-way delay, p50: 5 deviations and 15 µs above the last half hour". */
export function conditionWords(condition: Condition): string {
  const { kind, metric, statistic, above, deviations, rise_ns, timescale } = condition
  const what = title(metric, statistic)
  switch (kind) {
    case 'threshold':
      return `${what} above ${amount(metric, above)}`
    case 'baseline': {
      const least = rise_ns > 0 ? ` and ${amount(metric, rise_ns)}` : ''
      return `${what}: ${deviations} deviations${least} above ${TIMESCALES[timescale]}`
    }
    case 'spike':
      return `Largest delay ${formatDelay(rise_ns)} above the median`
    case 'silent':
      return 'No report of an agent'
    case 'performance':
      return `Performance ${above > 0 ? `${formatRatio(above)} ` : ''}below the objective`
  }
}

/** Which paths a rule is about: all that is named must hold. */
export function scopeWords({ zones, zone_pair, vms, path, labels, application }: Scope): string {
  const parts = [
    zones?.length ? `zones ${zones.join(', ')}` : '',
    zone_pair ? `between ${zone_pair.join(' and ')}` : '',
    vms?.length ? `VMs ${vms.join(', ')}` : '',
    path ? path.join(' → ') : '',
    ...Object.entries(labels ?? {}).map(([name, value]) => `${name}=${value}`),
    application ? `application ${application}` : '',
  ].filter(Boolean)
  return parts.length > 0 ? parts.join('; ') : 'all\u00a0paths'
}

export const patienceWords = ({ windows_x, windows_y }: Rule) => `${windows_x} of ${windows_y}`
