import { ActionIcon, Menu, Tooltip } from '@mantine/core'
import { type RefObject, useRef, useState } from 'react'
import type { Caption } from '~/lib/picture/compose'
import { type Drawing, drawingIn } from '~/lib/picture/drawing'
import type { TimeRange } from '~/lib/spans'
import { type Clock, formatRange } from '~/lib/time'
import { useClock } from './clock'
import { DownloadIcon } from './icons'
import { strings } from './strings'

export interface PictureProps {
  /** The title of the chart, also the name of the file. */
  title: string
  /** The range of time of a chart without a time axis. */
  range?: TimeRange | undefined
  /** More about the picture, such as the unit of its values. */
  note?: string | undefined
}

/** "2 incidents" are no part of the title of the page: "(2) c-2 → b-1 · demo · Sinemora" → "c-2 → b-1 · demo". */
const pageTitle = () => document.title.replace(/^\(\d+\+?\) /, '').replace(/ · Sinemora$/, '')

const rangeText = ({ from, to }: TimeRange, clock: Clock) => formatRange(new Date(from), new Date(to), clock)

/** Return the title and the lines below it. */
function captionOf({ title, range, note }: PictureProps, drawing: Drawing, clock: Clock): Caption {
  const time = drawing.range ?? (range && rangeText(range, clock))
  return { title, about: [pageTitle(), time, note].filter((line): line is string => !!line), at: new Date() }
}

/** The parts of a page that have one picture. */
const WHOLES = 'figure, section, main'

type Format = 'png' | 'svg' | 'csv'

/** Return a function that saves the chart next to an element as a file, and the reason why it could not. */
function useDownload(near: RefObject<Element | null>, picture: PictureProps, onSaved: () => void) {
  const clock = useClock()
  const [failure, setFailure] = useState('')

  async function download(format: Format) {
    const whole = near.current?.closest(WHOLES)
    const drawing = whole && drawingIn(whole)
    if (!whole || !drawing) return setFailure(strings.notDrawn)
    try {
      const { fileName, save } = await import('~/lib/picture/files')
      save(await fileOf(format, drawing, whole), `${fileName(`${pageTitle()} ${picture.title}`)}.${format}`)
      setFailure('')
      onSaved()
    } catch {
      setFailure(strings.pictureFailed)
    }
  }

  async function fileOf(format: Format, drawing: Drawing, whole: Element): Promise<Blob> {
    const [{ compose, inksAt }, { csv, rasterised }] = await Promise.all([
      import('~/lib/picture/compose'),
      import('~/lib/picture/files'),
    ])
    if (format === 'csv') return new Blob([drawing.table ? csv(drawing.table) : ''], { type: 'text/csv' })
    const composed = compose(drawing, captionOf(picture, drawing, clock), inksAt(whole))
    return format === 'svg' ? new Blob([composed.text], { type: 'image/svg+xml' }) : rasterised(composed)
  }

  return { failure, download }
}

interface ItemProps extends PictureProps {
  /** An element in the part of the page that has the chart. */
  near: RefObject<Element | null>
  /** Offer the values, which the chart has as a table. */
  withTable?: boolean
  onSaved: () => void
}

/** Menu items that save a chart as a picture. */
export function PictureItems({ near, withTable, onSaved, ...picture }: ItemProps) {
  const { failure, download } = useDownload(near, picture, onSaved)
  const item = (format: Format) => (
    // The menu stays open for the message of a failure.
    <Menu.Item closeMenuOnClick={false} onClick={() => void download(format)}>
      {format.toUpperCase()}
    </Menu.Item>
  )
  return (
    <>
      {item('png')}
      {item('svg')}
      {withTable && item('csv')}
      {failure && (
        <Menu.Label role="alert" maw={240}>
          {failure}
        </Menu.Label>
      )}
    </>
  )
}

/** Saves the chart of a panel as a picture or, unless it has no lines, as a table; stands in the head of the panel. */
export function PictureMenu({ withTable = true, ...picture }: PictureProps & { withTable?: boolean }) {
  const button = useRef<HTMLButtonElement>(null)
  const [opened, setOpened] = useState(false)
  const name = strings.downloadOf(picture.title)
  return (
    <Menu opened={opened} onChange={setOpened} position="bottom-end" withinPortal shadow="md">
      <Menu.Target>
        <Tooltip label={strings.downloadChart}>
          <ActionIcon ref={button} variant="subtle" color="gray" c="var(--ink-3)" size={24} aria-label={name}>
            <DownloadIcon />
          </ActionIcon>
        </Tooltip>
      </Menu.Target>
      <Menu.Dropdown>
        <PictureItems near={button} withTable={withTable} onSaved={() => setOpened(false)} {...picture} />
      </Menu.Dropdown>
    </Menu>
  )
}
