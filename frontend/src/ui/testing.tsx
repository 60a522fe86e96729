/** Render components in tests, as the product renders them: within the theme. */

import { MantineProvider } from '@mantine/core'
import { render } from '@testing-library/react'
import type { ReactNode } from 'react'
import { theme } from './theme'

/** jsdom has no media queries; Mantine asks for the reader's colour scheme. */
window.matchMedia ??= (query) =>
  ({ matches: false, media: query, addEventListener() {}, removeEventListener() {} }) as unknown as MediaQueryList
window.ResizeObserver ??= class {
  observe() {}
  unobserve() {}
  disconnect() {}
}

export const show = (children: ReactNode) =>
  render(
    <MantineProvider theme={theme} env="test">
      {children}
    </MantineProvider>,
  )
