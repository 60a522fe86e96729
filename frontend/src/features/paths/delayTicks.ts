import { tickLabels } from '~/lib/metrics'

/** Tick labels of a scale of delays, each with the unit. */
export function delayTicks(values: number[]): string[] {
  const { unit, labels } = tickLabels('one_way_delay', values)
  return labels.map((label) => `${label} ${unit}`)
}
