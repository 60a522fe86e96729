// @vitest-environment jsdom
import { screen } from '@testing-library/react'
import { expect, test } from 'vitest'
import { deviations, meshHealth } from '~/testing/overview'
import { showPage } from '~/testing/render'
import { ZoneMap } from './ZoneMap'

const NONE = [
  [null, null],
  [null, null],
]
const DELAYS = [
  [50_000, 60_000],
  [60_000, 50_000],
]

test.each([
  [NONE, DELAYS, 'No zone pair has a whole minute of measurements in the last 5 min.'],
  [DELAYS, NONE, 'No usual value yet: it needs about twenty minutes of measurements.'],
  [DELAYS, DELAYS, 'Every zone pair is as usual.'],
])('a map without changes says whether measurements or usual values are missing (%#)', async (now, usual, words) => {
  await showPage(<ZoneMap mesh={meshHealth()} deviations={deviations(now, usual)} />)
  expect(screen.getByText(words)).toBeTruthy()
})
