// @vitest-environment jsdom
import { expect, test, vi } from 'vitest'
import { leaveToField, typeAhead, typedAhead } from './typedAhead'

const press = (key: string, more: KeyboardEventInit = {}) =>
  window.dispatchEvent(new KeyboardEvent('keydown', { key, cancelable: true, ...more }))

test('keys between the shortcut and the field become its text, and the page gets none of them', () => {
  typeAhead()
  expect(press('w')).toBe(false)
  for (const key of ['e', 'x', 'Backspace', 'b']) press(key)
  expect(press('k', { ctrlKey: true })).toBe(true)
  expect(typedAhead()).toBe('web')
  // The field is drawn and has no focus yet.
  expect(press('-')).toBe(false)
  expect(leaveToField()).toBe('web-')
  expect(press('u')).toBe(true)
  expect(leaveToField()).toBeUndefined()
})

test('a palette that does not come gives the keys back', () => {
  vi.useFakeTimers()
  typeAhead()
  vi.advanceTimersByTime(3_001)
  expect(press('u')).toBe(true)
  expect(typedAhead()).toBe('')
})
