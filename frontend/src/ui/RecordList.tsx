import { Group, Pagination, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { type ComponentProps, useEffect, useMemo, useRef, useState } from 'react'
import { PAGE_ROWS } from '~/lib/paging'
import type { ListSearch, Patch } from '~/lib/searchParams'
import { formatCount } from '~/lib/units'
import { type Bulk, BulkBar, canSelect } from './BulkBar'
import { Choice } from './Choice'
import { filtersOf, nextSort, orderOf, viewOf } from './listView'
import styles from './page.module.css'
import { Records } from './Records'
import { strings } from './strings'
import { useSelection } from './useSelection'

/** A shorter list is seen at a glance. */
const SEARCHED_FROM = 10
const TYPING_MS = 200

interface Props<T> extends Omit<ComponentProps<typeof Records<T>>, 'sorting' | 'selecting'> {
  /** More rows are loading. */
  isPartial?: boolean
  /** Actions on several rows at once; false for those who may not edit. */
  bulk?: Bulk<T> | false
}

/** The list of a page: search, filters, order and page are in the address. A short list has no search. */
export function RecordList<T>({ isPartial = false, bulk = false, ...props }: Props<T>) {
  const { label, rows, columns } = props
  const search: ListSearch = useSearch({ strict: false })
  const navigate = useNavigate()
  const set = (patch: Patch<ListSearch>) =>
    void navigate({ to: '.', search: ((old: object) => ({ ...old, ...patch })) as never, replace: true })
  const { q, where, sort, page } = search
  const view = useMemo(() => viewOf(rows, columns, { q, where, sort, page }), [rows, columns, q, where, sort, page])
  const filters = filtersOf(rows, columns, where)
  const isNarrowed = Boolean(q || where)
  const order = orderOf(sort)
  const selection = useSelection(rows, props.id)
  const selecting =
    bulk && rows.some((row) => canSelect(bulk, row))
      ? { selection, name: bulk.name, canSelect: (row: T) => canSelect(bulk, row) }
      : undefined
  return (
    <div className={styles.list}>
      {(rows.length >= SEARCHED_FROM || isNarrowed) && (
        <Group gap="xs">
          <SearchField
            label={strings.searchIn(label)}
            value={q ?? ''}
            onChange={(text) => set({ q: text || undefined, page: undefined })}
          />
          {filters.map(({ key, title, choices }) => (
            <Choice
              key={key}
              size="xs"
              maw={200}
              aria-label={title}
              none={strings.anyOf(title)}
              data={choices.map((value) => ({ value, label: value }))}
              value={where?.[key] ?? ''}
              onChange={(value) => {
                const { [key]: _, ...others } = where ?? {}
                const next = value ? { ...others, [key]: value } : others
                set({ where: Object.keys(next).length > 0 ? next : undefined, page: undefined })
              }}
            />
          ))}
          <span role="status" className={styles.quiet}>
            {isPartial
              ? strings.loadingMore
              : isNarrowed
                ? strings.found(formatCount(view.found), formatCount(rows.length))
                : strings.total(formatCount(rows.length))}
          </span>
        </Group>
      )}
      {view.found === 0 ? (
        <p className={styles.lead}>
          {strings.nothingFound([q, ...Object.values(where ?? {})].filter(Boolean).join(' '))}
        </p>
      ) : (
        <Records
          {...props}
          rows={view.rows}
          selecting={selecting}
          sorting={{ ...order, ask: (key) => set({ sort: nextSort(sort, key), page: undefined }) }}
        />
      )}
      {view.pages > 1 && (
        <Group justify="space-between" gap="xs">
          <Pagination
            size="sm"
            total={view.pages}
            value={view.page}
            onChange={(chosen) => set({ page: chosen === 1 ? undefined : chosen })}
            getItemProps={(number) => ({ 'aria-label': strings.pageNumber(number) })}
            getControlProps={(control) => ({ 'aria-label': strings.pageControls[control] })}
          />
          <span className={styles.quiet}>
            {strings.rowsShown(
              (view.page - 1) * PAGE_ROWS + 1,
              (view.page - 1) * PAGE_ROWS + view.rows.length,
              formatCount(view.found),
            )}
          </span>
        </Group>
      )}
      {bulk && <BulkBar bulk={bulk} selection={selection} shown={view.rows} />}
    </div>
  )
}

/** Search as it is typed; the address follows shortly after. */
function SearchField({ label, value, onChange }: { label: string; value: string; onChange: (text: string) => void }) {
  const [text, setText] = useState(value)
  const sent = useRef(value)
  const send = useDebouncedCallback((typed: string) => {
    sent.current = typed.trim()
    onChange(sent.current)
  }, TYPING_MS)
  useEffect(() => {
    // Another address: the person went back, or followed a link.
    if (value !== sent.current) {
      sent.current = value
      setText(value)
    }
  }, [value])
  return (
    <TextInput
      type="search"
      size="xs"
      w={260}
      aria-label={label}
      placeholder={strings.search}
      value={text}
      onChange={({ currentTarget }) => {
        setText(currentTarget.value)
        send(currentTarget.value)
      }}
    />
  )
}
