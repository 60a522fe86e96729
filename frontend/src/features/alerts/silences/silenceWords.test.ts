import { expect, test } from 'vitest'
import { minuteOfDay, weeklyWords } from './silenceWords'

test('a weekly silence shows day, time and length, and typed times parse to the same', () => {
  expect(
    weeklyWords({ weekly: { weekday: 6, minute: minuteOfDay('23:05'), lasts_min: 90, time_zone: 'Europe/Berlin' } }),
  ).toBe('Sundays 23:05 Europe/Berlin for 90 min')
  expect(weeklyWords({ weekly: null })).toBe('Always')
})
