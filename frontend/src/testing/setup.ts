/** Browser features that jsdom lacks, for every test that renders. */

import { afterEach, vi } from 'vitest'

if (typeof window !== 'undefined') {
  const { cleanup, configure } = await import('@testing-library/react')
  configure({ asyncUtilTimeout: 20_000 })
  afterEach(() => {
    cleanup()
    vi.unstubAllGlobals()
  })

  /** jsdom has no media queries; Mantine asks for the reader's colour scheme. */
  window.matchMedia ??= (query) =>
    ({ matches: false, media: query, addEventListener() {}, removeEventListener() {} }) as unknown as MediaQueryList
  window.ResizeObserver ??= class {
    observe() {}
    unobserve() {}
    disconnect() {}
  }
  Object.assign(document, { fonts: new EventTarget() })
  window.HTMLElement.prototype.scrollIntoView ??= () => {}

  // Node's requests take no relative address and no signal of jsdom.
  const { Request } = globalThis
  globalThis.Request = class extends Request {
    constructor(input: RequestInfo | URL, { signal: _, ...init }: RequestInit = {}) {
      super(typeof input === 'string' ? new URL(input, window.location.href) : input, init)
    }
  }
}
