import { VisuallyHidden } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { type KeyboardEvent, useId, useState } from 'react'
import { SearchIcon } from '~/ui/icons'
import { Loading } from '~/ui/State'
import { strings } from '../strings'
import type { Entry } from './entries'
import styles from './palette.module.css'
import { ResultList } from './ResultList'
import { leaveToField, typedAhead } from './typedAhead'
import { useResults } from './useResults'

interface Props {
  onClose: () => void
  onShortcuts: () => void
}

/** The field of the palette and what it finds. The field keeps the focus; arrow keys choose a result. */
export function PaletteSearch({ onClose, onShortcuts }: Props) {
  const [query, setQuery] = useState(typedAhead)
  const [chosen, setChosen] = useState(0)
  const navigate = useNavigate()
  const listId = useId()
  const { groups, isLoading, isIncomplete } = useResults(query, onShortcuts)
  const entries = groups.flatMap((group) => group.entries)
  const active = Math.min(chosen, entries.length - 1)
  const optionId = (index: number) => `${listId}-${index}`

  function open({ act }: Entry) {
    onClose()
    if (typeof act === 'function') act()
    else void navigate(act)
  }

  function onKeyDown(event: KeyboardEvent) {
    if (event.nativeEvent.isComposing) return
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    const entry = entries[active]
    if (step && entries.length > 0) setChosen((active + step + entries.length) % entries.length)
    else if (event.key === 'Enter' && entry) open(entry)
    else if (event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey)) onClose()
    else return
    event.preventDefault()
  }

  return (
    <>
      <div className={styles.field}>
        <SearchIcon />
        <input
          data-autofocus
          // Between the first picture of the field and its focus, characters are still taken ahead.
          onFocus={() => {
            const ahead = leaveToField()
            if (ahead !== undefined) setQuery(ahead)
          }}
          role="combobox"
          aria-label={strings.searchLabel}
          aria-expanded={entries.length > 0}
          aria-controls={listId}
          aria-autocomplete="list"
          aria-activedescendant={entries.length > 0 ? optionId(active) : undefined}
          placeholder={strings.searchHint}
          autoComplete="off"
          spellCheck={false}
          value={query}
          onChange={({ currentTarget: { value } }) => {
            setQuery(value)
            setChosen(0)
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <ResultList
        // A new query starts at the top of its list.
        key={query}
        id={listId}
        groups={groups}
        active={active}
        optionId={optionId}
        onHover={setChosen}
        onOpen={open}
      />
      {entries.length === 0 &&
        (isLoading ? <Loading what={strings.searchedLists} /> : <p className={styles.none}>{strings.noResults}</p>)}
      {isIncomplete && <p className={styles.none}>{strings.someMissing}</p>}
      <VisuallyHidden role="status">{strings.resultCount(entries.length)}</VisuallyHidden>
    </>
  )
}
