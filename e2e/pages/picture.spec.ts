import { readFileSync } from 'node:fs'
import { expect, type Page } from '@playwright/test'
import { open, recording, test } from '../support/replayed'

async function download(page: Page, button: string | RegExp, format: 'PNG' | 'SVG') {
  await page.getByRole('button', { name: button }).first().click()
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('menuitem', { name: format, exact: true }).click(),
  ])
  return readFileSync(await file.path())
}

/** Return the size of a PNG and the number of its colours, as the browser decodes it. */
const decoded = (page: Page, png: Buffer) =>
  page.evaluate(async (base64) => {
    const image = new Image()
    image.src = `data:image/png;base64,${base64}`
    await image.decode()
    const canvas = new OffscreenCanvas(image.width, image.height)
    const context = canvas.getContext('2d')
    context?.drawImage(image, 0, 0)
    const { data } = context?.getImageData(0, 0, image.width, image.height) ?? { data: new Uint8ClampedArray() }
    return { width: image.width, height: image.height, colours: new Set(new Uint32Array(data.buffer)).size }
  }, png.toString('base64'))

for (const [name, button] of [
  ['path', /^Download: One-way delay/],
  ['heatmap-delay', 'Download'],
] as const) {
  test(`the picture of the ${name} is sharp, has a legend, and needs no page`, async ({ shared: page }) => {
    await open(page, recording.pages[name] as string, 'recorded', 1280)
    await page.waitForLoadState('networkidle')
    const svg = (await download(page, button, 'SVG')).toString()
    expect(svg).not.toContain('var(')
    expect(svg).toContain('One-way delay, p50</text>')
    expect(svg).toMatch(/µs<\/text>/)
    expect(svg).toMatch(/UTC<\/text>/)
    const [width, height] = ['width', 'height'].map((side) =>
      Number(new RegExp(`<svg[^>]* ${side}="(\\d+)"`).exec(svg)?.[1]),
    )
    const png = await decoded(page, await download(page, button, 'PNG'))
    expect([png.width, png.height]).toEqual([2 * (width as number), 2 * (height as number)])
    expect(png.colours).toBeGreaterThan(20)
  })
}
