import { cpus, hostname, release } from 'node:os'
import { expect, test } from '../support/journey'
import { CONTRACT, keyOf, type Recording, saveRecording } from '../support/recording'
import { fillProduct } from './fill'
import { findPages } from './pages'

test('record the requests of every page', async ({ own: page, mesh, baseURL }) => {
  test.setTimeout(1_800_000)
  await fillProduct(page, mesh)
  const recording: Recording = {
    now: Math.floor(Date.now() / 1_000) * 1_000,
    pages: await findPages(page, mesh),
    answers: {},
  }
  await page.clock.setFixedTime(recording.now)
  // Open a silent stream: new windows would add requests that do not occur when the page is replayed.
  await page.addInitScript(() => {
    class SilentStream extends EventTarget {
      onopen: (() => void) | null = null
      constructor() {
        super()
        setTimeout(() => this.onopen?.())
      }
      close() {}
    }
    Object.assign(window, { EventSource: SilentStream })
    Reflect.deleteProperty(window, 'SharedWorker')
  })
  await page.route('**/v1/**', async (route) => {
    const request = route.request()
    const response = await route.fetch({ maxRetries: 3 })
    const type = response.headers()['content-type'] ?? ''
    const body = await response.body()
    if (new URL(request.url()).pathname === CONTRACT) return route.fulfill({ response })
    recording.answers[keyOf(request.method(), request.url(), request.postData() ?? '')] = type.includes('json')
      ? { status: response.status(), type, body: JSON.parse(body.toString('utf8')) }
      : { status: response.status(), type, bytes: body.toString('base64') }
    const date = new Date(recording.now).toUTCString()
    await route.fulfill({ response, headers: { ...response.headers(), date } })
  })
  for (const address of Object.values(recording.pages)) {
    await page.goto(address)
    await expect(page.getByRole('heading', { level: 1 }).first()).toBeVisible()
    await expect(page.getByText(/^Loading /)).toHaveCount(0)
    await page.waitForLoadState('networkidle', { timeout: 20_000 })
  }
  saveRecording(recording, [
    [baseURL ?? '', 'https://sinemora.example'],
    [`"host_name":"${hostname()}"`, '"host_name":"vm-host"'],
    [release(), '6.1.0-31-amd64'],
    [cpus()[0]?.model ?? 'no model', 'Intel(R) Xeon(R)'],
  ])
})
