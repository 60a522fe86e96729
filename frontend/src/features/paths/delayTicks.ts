import { commonDelayUnit } from '~/lib/units'

/** Return the labels of delays on an axis, ns, in one unit. */
export const delayTicks = (values: number[]) => {
  const { unit, divide } = commonDelayUnit(Math.max(...values.map(Math.abs)))
  return values.map((value) => `${Number(divide(value).toPrecision(4))} ${unit}`)
}
