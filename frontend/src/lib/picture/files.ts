/** Pictures and tables as files. */

import type { Table } from './drawing'

/** A picture is sharp on screens of two pixels per CSS pixel, whatever screen it was made on. */
const DENSITY_MIN = 2
/** Browsers refuse larger canvases, in pixels of a side. */
const LONGEST = 16_000

/** Return a picture as PNG, with the pixels of this screen or two per CSS pixel. */
export async function rasterised(picture: { text: string; width: number; height: number }): Promise<Blob> {
  const { text, width, height } = picture
  const density = Math.min(Math.max(DENSITY_MIN, window.devicePixelRatio || 1), LONGEST / Math.max(width, height))
  const address = URL.createObjectURL(new Blob([text], { type: 'image/svg+xml' }))
  try {
    const image = new Image()
    image.src = address
    await image.decode()
    const canvas = document.createElement('canvas')
    canvas.width = Math.round(width * density)
    canvas.height = Math.round(height * density)
    canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height)
    return await new Promise((resolve, reject) =>
      canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('The picture is empty.'))), 'image/png'),
    )
  } finally {
    URL.revokeObjectURL(address)
  }
}

/** What spreadsheets take for a formula, unless it is a number: the guard of `kit/csv_rows.py` (OWASP, "CSV injection"). */
const FORMULA = /(^|[;\t\r\n])(?=[=+\-@\t\r\n＝＋－＠])/g
const NUMBER = /^[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i

/** Return a table as CSV (RFC 4180); a missing value is an empty field, and a formula begins with an apostrophe. */
export const csv = ({ columns, rows }: Table): string =>
  [columns, ...rows]
    .map((row) => row.map(field).join(','))
    .join('\r\n')
    .concat('\r\n')

const field = (value: string | number | null) =>
  typeof value === 'string' ? quoted(NUMBER.test(value) ? value : value.replaceAll(FORMULA, "$1'")) : (value ?? '')

const quoted = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

/** Return a file name: "One-way delay, p50" → "one-way-delay-p50". */
export const fileName = (title: string) =>
  title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 80) || 'picture'

/** Save a file as a download of the browser. */
export function save(content: Blob, name: string) {
  const address = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  // The download has begun by then; some browsers read the address only after the click.
  setTimeout(() => URL.revokeObjectURL(address), 10_000)
}
