/** A path without a usual value, in words. Every page waits for the same: enough stored minutes (`MINUTES_MIN` of the API). */

export const NO_USUAL = 'No usual value yet'

/** The reason for `NO_USUAL`: ten stored minutes, after those that a change may be in. */
export const NO_USUAL_YET = `${NO_USUAL}: it needs about twenty minutes of measurements.`

/**
 * The words for `young` of `of` pairs whose usual value is made of the last hour, for want of earlier hours; none of
 * them: no words. What has lasted longer than that hour is usual there.
 */
export function lastHourOnly(young: number, of: number, noun: string): string {
  if (young === 0) return ''
  const compared =
    young === of ? 'Compared with the last hour only' : `${young} of ${noun}: compared with the last hour only`
  return `${compared}; no earlier day to compare with yet.`
}
