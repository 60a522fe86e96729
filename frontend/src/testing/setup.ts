/** Browser features that jsdom lacks, for every test that renders; runs before each file. */

import { afterEach, expect, vi } from 'vitest'

afterEach(() => {
  vi.unstubAllGlobals()
  vi.unstubAllEnvs()
  vi.useRealTimers()
})

/** Return the names of the sections, navigations and forms of the page, a list of landmarks. */
function landmarks() {
  return [...document.querySelectorAll('section, aside, nav, form')].flatMap((element) => {
    const heading = document.getElementById(element.getAttribute('aria-labelledby') ?? '')
    const name = element.getAttribute('aria-label') ?? heading?.textContent
    return name ? [`${element.tagName.toLowerCase()} “${name.toLowerCase()}”`] : []
  })
}

if (typeof window !== 'undefined') {
  const { cleanup, configure } = await import('@testing-library/react')
  configure({ asyncUtilTimeout: 20_000 })
  // Files share a window: each begins with an empty one.
  afterEach(() => {
    const names = landmarks()
    cleanup()
    // Two landmarks of one name cannot be told apart (axe: landmark-unique).
    expect(names).toEqual([...new Set(names)])
  })
  localStorage.clear()
  sessionStorage.clear()
  document.body.replaceChildren()
  for (const { name } of [...document.documentElement.attributes]) document.documentElement.removeAttribute(name)

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
  if (Request.name !== 'RelativeRequest') {
    globalThis.Request = class RelativeRequest extends Request {
      constructor(input: RequestInfo | URL, { signal: _, ...init }: RequestInit = {}) {
        super(typeof input === 'string' ? new URL(input, window.location.href) : input, init)
      }
    }
  }
}
