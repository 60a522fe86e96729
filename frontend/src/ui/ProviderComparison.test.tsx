import { expect, test } from 'vitest'
import { delaysOf } from '~/lib/publishedDelays'
import { rowsOf, screen, show } from '~/testing/page'
import { ProviderComparison } from './ProviderComparison'

const OWN = [{ name: 'This path', delays: delaysOf([{ p50: 90_000, p99: 130_000 }]) }]

test("one's own delays stand over the published range, with its source", async () => {
  show(<ProviderComparison provider="gcp" pathClass="same_zone" own={OWN} />)
  expect(await rowsOf()).toEqual([
    'This path90.0 µs130 µs',
    'Published for Google Cloud57.9 µs to 97.1 µs76.0 µs to 1.44 ms',
  ])
  expect(screen.getByText(/^D\. A\. Popescu, UCAM-CL-TR-937, table 4\.3: 9 traces/)).toBeTruthy()
})
