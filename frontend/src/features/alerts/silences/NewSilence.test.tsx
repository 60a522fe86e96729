import { expect, test, vi } from 'vitest'
import { bodiesOf, field, fill, mockApi, press, reply, screen, showPage, userEvent, visit } from '~/testing/page'
import { NewSilence } from './NewSilence'

test('a silence states its matchers, its end and its weekly window; created, its form is closed', async () => {
  const onDone = vi.fn()
  const { sent } = await visit(<NewSilence onDone={onDone} />, { 'POST /v1/silences': () => reply(201, { id: 's' }) })
  await fill(field('Value 1'), 'production')
  await fill(field('Reason'), 'Switch replacement')
  await userEvent.selectOptions(field('Ends in'), '1 week')
  await userEvent.click(field('Only a weekly maintenance window'))
  await userEvent.selectOptions(field('Weekday'), 'Saturday')
  await press('Create silence')
  const [body] = bodiesOf(sent, 'POST /v1/silences') as [Record<string, unknown>]
  expect(body).toMatchObject({
    comment: 'Switch replacement',
    matchers: [{ label: 'mesh', value: 'production', negate: false }],
    weekly: { weekday: 5, minute: 120, lasts_min: 120, time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone },
  })
  expect((Date.parse(String(body.ends_at)) - Date.now()) / 3_600_000).toBeCloseTo(168, 1)
  expect(onDone).toHaveBeenCalledOnce()
})

test('matches of a silence are previewed, and nothing is created', async () => {
  const sent = mockApi({ 'POST /v1/silence-previews': { incidents: [], notes: ['No VM is named db-9 now.'] } })
  await showPage(<NewSilence onDone={() => {}} />)
  await fill(field('Value 1'), 'production')
  await userEvent.type(field('Reason'), 'x')
  await press('Preview matches')
  expect(await screen.findByText('No incident of the last 7 days matches.')).toBeTruthy()
  expect(screen.getByText('No VM is named db-9 now.')).toBeTruthy()
  expect(bodiesOf(sent, 'POST /v1/silences')).toEqual([])
  expect(field('Reason').value).toBe('x')
})
