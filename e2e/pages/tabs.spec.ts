import { expect, test } from '@playwright/test'
import { startReplay } from '../support/replay'
import { ORIGIN, recording } from '../support/replayed'

// More than the connections that a browser opens to one server by HTTP/1.1, which is six.
const TABS = Number(process.env.SINEMORA_TABS ?? 8)

test(`${TABS} tabs of a browser share one live stream, and each reads new windows`, async ({ browser }) => {
  const { url, server, streams } = await startReplay(recording, new Set())
  const context = await browser.newContext({ proxy: { server: url } })
  const open = async () => {
    const page = await context.newPage()
    await page.goto(ORIGIN + recording.pages.heatmap)
    await expect(page.getByRole('status').getByText('Live', { exact: true })).toBeVisible()
    return page
  }
  const tabs = [await open()]
  while (tabs.length < TABS) tabs.push(await open())
  const announce = async () => {
    expect(streams.size).toBe(1)
    const read = tabs.map((page) => page.waitForRequest(/\/matrix\?/, { timeout: 30_000 }))
    for (const stream of streams) stream.write('id: 1-0\nevent: window\ndata: {}\n\n')
    await Promise.all(read)
  }
  await announce()
  // The tab that was first closes: the others go on.
  await tabs.shift()?.close()
  await announce()
  await context.close()
  await expect.poll(() => streams.size).toBe(0)
  server.closeAllConnections()
  server.close()
})
