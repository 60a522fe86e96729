/** A path without a usual value, in words. Every page waits for the same: enough stored minutes (`MINUTES_MIN` of the API). */

export const NO_USUAL = 'No usual value yet'

/** The reason for `NO_USUAL`: ten stored minutes, after those that a change may be in. */
export const NO_USUAL_YET = `${NO_USUAL}: it needs about twenty minutes of measurements.`
