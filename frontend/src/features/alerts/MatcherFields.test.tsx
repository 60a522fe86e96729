import { expect, test, vi } from 'vitest'
import { screen, show, userEvent } from '~/testing/page'
import { MatcherFields, type TypedMatcher } from './MatcherFields'

const MATCHER: TypedMatcher = { id: 0, label: 'severity', value: 'critical', negate: false }

test('a matcher is changed in its own row only', async () => {
  const onChange = vi.fn()
  show(<MatcherFields matchers={[MATCHER, { ...MATCHER, id: 1 }]} onChange={onChange} wrong={() => undefined} />)
  await userEvent.selectOptions(screen.getByLabelText('Comparison 2'), 'is not')
  expect(onChange).toHaveBeenLastCalledWith([MATCHER, { ...MATCHER, id: 1, negate: true }])
})

test('an error of the server is shown at its field', () => {
  const wrong = (pointer: string) => (pointer === 'matchers/0/value' ? 'Too long.' : undefined)
  show(<MatcherFields matchers={[MATCHER]} onChange={() => {}} wrong={wrong} />)
  expect(screen.getByText('Too long.')).toBeTruthy()
  expect(screen.getByLabelText('Value 1').getAttribute('aria-invalid')).toBe('true')
})

test('matchers are added and removed', async () => {
  const onChange = vi.fn()
  show(<MatcherFields optional matchers={[MATCHER]} onChange={onChange} wrong={() => undefined} />)
  await userEvent.click(screen.getByRole('button', { name: 'Add another matcher' }))
  expect(onChange.mock.lastCall?.[0]).toHaveLength(2)
  await userEvent.click(screen.getByRole('button', { name: 'Remove matcher 1' }))
  expect(onChange).toHaveBeenLastCalledWith([])
})
