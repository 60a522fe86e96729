/** Facts of each metric: name, format and kind of scale. */

import type { Coding } from './codes'
import { MATRIX_METRICS, METRICS, STATISTICS, type Statistic } from './dimensions'
import { strings } from './strings'
import {
  commonDelayUnit,
  formatDelay,
  formatRatio,
  formatSignedDelay,
  formatSignedPercent,
  formatSignedRatio,
  threeDigits,
} from './units'

interface Facts {
  name: string
  /** One sentence for the person who has not met it before. */
  about: string
  scale: 'log' | 'linear' | 'symmetric'
  /** The smallest useful extent of a scale that is not logarithmic. */
  least: number
  hasStatistic: boolean
  /** True when the clock error can exceed the value and must be shown. */
  isClocked: boolean
  format: (value: number | null) => string
}

const DELAY = { scale: 'log', least: 1, hasStatistic: true, isClocked: false, format: formatDelay } as const
const CHANGE = { ...DELAY, scale: 'symmetric', least: 1_000, format: formatSignedDelay } as const
const SHARE = { ...DELAY, scale: 'linear', least: 0.001, format: formatRatio } as const

const FACTS: Record<Coding, Facts> = {
  deviation: {
    ...CHANGE,
    name: strings.changeFromUsual,
    about: strings.deviationHint,
    least: 20_000,
    hasStatistic: false,
  },
  one_way_delay: { ...DELAY, name: strings.oneWayDelay, about: strings.oneWayDelayHint, isClocked: true },
  round_trip: { ...DELAY, name: strings.roundTrip, about: strings.roundTripHint },
  asymmetry: { ...CHANGE, name: strings.asymmetry, about: strings.asymmetryHint, isClocked: true },
  loss: { ...SHARE, name: strings.loss, about: strings.lossHint, hasStatistic: false },
  clock_error: { ...DELAY, name: strings.clockError, about: strings.clockErrorHint, hasStatistic: false },
  jitter: { ...DELAY, name: strings.jitter, about: strings.jitterHint },
  predicted_loss: { ...SHARE, name: strings.performanceLost, about: strings.predictedLossHint, least: 0.01 },
  difference: { ...CHANGE, name: strings.difference, about: strings.differenceHint },
  loss_difference: {
    ...CHANGE,
    name: strings.lossDifference,
    about: strings.differenceHint,
    least: 0.001,
    hasStatistic: false,
    format: formatSignedRatio,
  },
  percent: {
    ...CHANGE,
    name: strings.percentDifference,
    about: strings.percentDifferenceHint,
    least: 1,
    format: formatSignedPercent,
  },
}

export const facts = (metric: Coding): Facts => FACTS[metric]

export const METRIC_OPTIONS = METRICS.map((value) => ({ value, label: FACTS[value].name }))

/** Metrics that every mesh has. The cost to an application is one metric for each application. */
export const MATRIX_METRIC_OPTIONS = MATRIX_METRICS.filter((value) => value !== 'predicted_loss').map((value) => ({
  value,
  label: FACTS[value].name,
}))

export const STATISTIC_OPTIONS = STATISTICS.map((value) => ({ value, label: statisticName(value) }))

/** Return the name of a statistic on every page; "p99.9" is written p999 in addresses. */
export function statisticName(statistic: Statistic): string {
  return statistic === 'p999' ? 'p99.9' : statistic === 'sd' ? strings.sd : statistic
}

/** "One-way delay, p50"; a metric of one number per window has no statistic. */
export function title(metric: Coding, statistic: Statistic): string {
  return FACTS[metric].hasStatistic ? `${FACTS[metric].name}, ${statisticName(statistic)}` : FACTS[metric].name
}

/** Return the label before the number in a sentence: "p50 84.2 µs", "loss 0 %". */
export function measure(metric: Coding, statistic: Statistic): string {
  if (metric === 'one_way_delay') return statisticName(statistic)
  if (metric === 'deviation') return 'p50'
  const name = FACTS[metric].name.toLowerCase()
  return FACTS[metric].hasStatistic ? `${name} ${statisticName(statistic)}` : name
}

/** Tick labels of one scale, in one unit, with three digits, or as many as tell them apart. */
export function tickLabels(metric: Coding, values: number[]): { unit: string; labels: string[] } {
  if (metric === 'loss' || metric === 'loss_difference' || metric === 'predicted_loss') {
    return { unit: '%', labels: distinct(values.map((value) => value * 100)) }
  }
  if (metric === 'percent') return { unit: '%', labels: distinct(values) }
  const { unit, divide } = commonDelayUnit(Math.max(...values.map(Math.abs)))
  return { unit, labels: distinct(values.map(divide)) }
}

const DIGITS_MAX = 9

/** Write values with as few digits as tell them apart: 115.2, 115.4 and 115.6 are not 115, 115 and 116. */
function distinct(values: number[]): string[] {
  const different = new Set(values).size
  for (let digits = 3; digits <= DIGITS_MAX; digits++) {
    const labels = values.map((value) => trim(value, digits))
    if (new Set(labels).size >= different) return labels
  }
  return values.map((value) => trim(value, DIGITS_MAX))
}

function trim(value: number, digits: number): string {
  const size = Math.abs(value)
  const text = digits === 3 ? threeDigits(size) : String(Number(size.toPrecision(digits)))
  return `${value < 0 ? '−' : ''}${text.includes('.') ? text.replace(/\.?0+$/, '') : text}`
}
