import { Button, Menu } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { strings } from './strings'

const FORMATS = [
  ['csv', 'CSV'],
  ['ndjson', 'NDJSON'],
  ['json', 'JSON'],
  ['arrow', 'Arrow'],
  ['parquet', 'Parquet'],
] as const

interface Props {
  /** The URL of the shown values in a format. */
  file: (format: string) => string
  /** Formats that are not offered. */
  without?: readonly string[]
  /** Offer no format. */
  isPictureOnly?: boolean
  /** Items above the formats, such as those of a picture. */
  children?: ((close: () => void) => ReactNode) | undefined
}

/** Downloads the shown values as a file. Addresses are computed when the menu opens, so that "now" is then. */
export function DownloadMenu({ file, without = [], isPictureOnly = false, children }: Props) {
  const [opened, setOpened] = useState(false)
  return (
    <Menu opened={opened} onChange={setOpened} position="bottom-end" withinPortal shadow="md">
      <Menu.Target>
        <Button variant="default" size="xs">
          {strings.download}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {children?.(() => setOpened(false))}
        {FORMATS.filter(([format]) => !isPictureOnly && !without.includes(format)).map(([format, name]) => (
          <Menu.Item key={format} renderRoot={(root) => <a {...root} href={file(format)} download />}>
            {name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
