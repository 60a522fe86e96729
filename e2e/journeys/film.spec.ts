import { expect, test } from '../support/journey'

test('the last minutes are played under the heatmap, and the address keeps the shown one', async ({
  inside: page,
  mesh,
}) => {
  await page.goto(`/meshes/${mesh.id}?metric=one_way_delay&tz=utc`)
  const film = page.getByRole('region', { name: 'Playback' })
  const shown = film.getByRole('slider', { name: 'Shown time' })
  /** The shown minute, without the incidents and annotations at that time. */
  const words = async () => /^.* – \d\d:\d\d UTC/.exec((await shown.getAttribute('aria-valuetext')) ?? '')?.[0] ?? ''
  await expect(shown).toHaveAttribute('aria-valuetext', 'Live: newest windows')

  await shown.focus()
  await shown.press('End')
  await shown.press('ArrowLeft')
  await shown.press('ArrowLeft')
  await expect(shown).toHaveAttribute('aria-valuetext', /\d\d:\d\d – \d\d:\d\d UTC/)
  const first = await words()
  await film.getByRole('combobox', { name: 'Speed' }).selectOption('4 steps/s')
  await film.getByRole('button', { name: 'Play' }).click()
  await expect.poll(words).not.toBe(first)
  // It ends with the newest minute.
  await expect(film.getByRole('button', { name: 'Play' })).toBeVisible()
  const last = await words()
  const [, minute] = /– (\d\d:\d\d)/.exec(last) ?? []
  // While it plays, the address keeps where it began.
  await expect.poll(() => new URL(page.url()).searchParams.get('at')).toContain(`T${minute}:00`)
  await page.reload()
  await expect.poll(words).toBe(last)
  await expect(page.getByRole('grid')).toBeVisible()

  await shown.press('Escape')
  await expect(shown).toHaveAttribute('aria-valuetext', 'Live: newest windows')
  await expect(page.getByText(/^Window \d/)).toBeVisible()
})
