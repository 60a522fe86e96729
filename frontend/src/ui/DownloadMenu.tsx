import { Button, Menu } from '@mantine/core'
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
}

/** Downloads the shown values as a file. Addresses are computed when the menu opens, so that "now" is then. */
export function DownloadMenu({ file, without = [] }: Props) {
  return (
    <Menu position="bottom-end" withinPortal shadow="md">
      <Menu.Target>
        <Button variant="default" size="xs">
          {strings.download}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {FORMATS.filter(([format]) => !without.includes(format)).map(([format, name]) => (
          <Menu.Item key={format} renderRoot={(root) => <a {...root} href={file(format)} download />}>
            {name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
