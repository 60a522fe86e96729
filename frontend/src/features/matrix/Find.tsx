import { Autocomplete, Checkbox, Tooltip } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useMemo, useState } from 'react'
import type { Granularity } from '~/lib/dimensions'
import { SearchIcon } from '~/ui/icons'
import { isMatch, type Named } from './selection'
import { strings } from './strings'

interface Props {
  by: Granularity
  /** All VMs, or all zones. */
  entries: readonly Named[]
  find: string
  /** Only matches are shown. */
  isOnly: boolean
  onFind: (text: string) => void
  onOnly: (isOnly: boolean) => void
  onSelect: (id: string) => void
}

/** Suggestions below the field. */
const MOST = 8
const FIND_MS = 250

/** A field that marks the rows and columns that match a text, shows only those, and selects one of them. */
export function Find({ by, entries, find, isOnly, onFind, onOnly, onSelect }: Props) {
  const [text, setText] = useState(find)
  const later = useDebouncedCallback(onFind, FIND_MS)
  const ids = useMemo(() => new Map(entries.map(({ id, label }) => [label, id])), [entries])
  const data = useMemo(() => [...ids.keys()], [ids])
  const isUnknown = useMemo(() => text !== '' && !entries.some((entry) => isMatch(entry, text)), [entries, text])
  const label = by === 'zone' ? strings.findZone : strings.findVm
  return (
    <>
      <Autocomplete
        aria-label={label}
        placeholder={label}
        size="xs"
        w={124}
        leftSection={<SearchIcon />}
        data={data}
        limit={MOST}
        clearable
        selectFirstOptionOnChange
        value={text}
        error={isUnknown}
        comboboxProps={{ transitionProps: { duration: 0 } }}
        onChange={(next) => {
          setText(next)
          later(next.trim())
        }}
        onOptionSubmit={(chosen) => {
          const id = ids.get(chosen)
          if (id) onSelect(id)
        }}
      />
      {(find !== '' || isOnly) && (
        <Tooltip label={strings.onlyMatchesHint}>
          <Checkbox
            size="xs"
            label={strings.onlyMatches}
            checked={isOnly}
            onChange={({ currentTarget: { checked } }) => onOnly(checked)}
          />
        </Tooltip>
      )}
    </>
  )
}
