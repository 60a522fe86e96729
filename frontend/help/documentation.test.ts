import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { pageOf, termsOf } from './documentation'

test('a page has its title, its sections, and links to the pages that the console has', () => {
  const page = pageOf(
    '# Alerts `v2`\n\n## Rules & limits\n\n[agent](agent.md#tls), [code](../agent/x.rs), [RFC](https://rfc) ![A picture](x.png)\n\n## Rules & limits\n',
    ['agent'],
  )
  expect([page.title, page.sections]).toEqual([
    'Alerts v2',
    [
      { id: 'rules--limits', title: 'Rules & limits' },
      { id: 'rules--limits-1', title: 'Rules & limits' },
    ],
  ])
  expect(page.html).toContain('<a href="/help/agent#tls">agent</a>, code, <a href="https://rfc">RFC</a>')
  expect(page.html).not.toContain('picture')
})

test('the glossary gives each term its meaning and its standard', () => {
  const terms = termsOf(readFileSync(new URL('../../docs/glossary.md', import.meta.url), 'utf8'))
  expect(Object.keys(terms).length).toBeGreaterThan(60)
  expect(terms.zone).toEqual({
    meaning: "a provider's failure domain: provider, region, name, physical id",
    standard: 'availability zone (AWS, Azure, Google Cloud)',
  })
  expect(terms.client).toEqual(terms.responder)
  expect(terms['usual value']).toEqual(terms.baseline)
  expect(terms.p99).toEqual(terms.percentile)
  for (const { meaning } of Object.values(terms)) expect(meaning).not.toMatch(/[|`]/)
})
