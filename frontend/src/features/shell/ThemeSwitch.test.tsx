// @vitest-environment jsdom
import { screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test } from 'vitest'
import { show } from '~/testing/render'
import { ThemeSwitch } from './ThemeSwitch'

test('a theme is chosen, named by the button, and set on the page', async () => {
  show(<ThemeSwitch />)
  for (const [theme, scheme] of [
    ['Dark', 'dark'],
    ['Light', 'light'],
  ] as const) {
    await userEvent.click(screen.getByRole('button', { name: /^Theme: / }))
    await userEvent.click(await screen.findByRole('menuitem', { name: theme }))
    expect(screen.getByRole('button', { name: `Theme: ${theme}` })).toBeTruthy()
    expect(document.documentElement.dataset.mantineColorScheme).toBe(scheme)
  }
})
