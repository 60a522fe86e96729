import { Button, Group, Progress } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import type { Watch } from '~/lib/inTurn'
import { formatCount } from '~/lib/units'
import styles from './bulk.module.css'
import { Dialog } from './Dialog'
import { errorText, Notice } from './State'
import { strings } from './strings'
import type { Selection } from './useSelection'

/** Actions on the selected rows of a list. */
export interface Bulk<T> {
  /** Words for one row and for several: "VM", "VMs". */
  nouns: readonly [one: string, several: string]
  name: (row: T) => string
  actions: readonly BulkAction<T>[]
}

export interface BulkAction<T> {
  /** Label of the button, a verb: "Delete". */
  label: string
  /** Rows that the action is possible for; all when absent. */
  applies?: (row: T) => boolean
  /** The effect of an action that cannot be undone: it is confirmed first. */
  effect?: string
  /** Act on each row; return the reasons of failures, null where there was none (`each` of an action). */
  run: (rows: T[], watch: Watch) => Promise<unknown[]>
}

interface Running {
  label: string
  total: number
  done: number
  stop: () => void
}

interface Result {
  label: string
  total: number
  failures: { name: string; reason: string }[]
}

/** Return true when a row can be selected: some action is possible for it. */
export const canSelect = <T,>({ actions }: Bulk<T>, row: T) => actions.some(({ applies }) => applies?.(row) ?? true)

interface Props<T> {
  bulk: Bulk<T>
  selection: Selection<T>
  /** Rows on this page of the list. */
  shown: readonly T[]
}

/** The number of selected rows, their actions, the progress of one, and what failed: these rows stay selected. */
export function BulkBar<T>({ bulk, selection, shown }: Props<T>) {
  const { rows: selected } = selection
  const [asked, setAsked] = useState<BulkAction<T> | null>(null)
  const [running, setRunning] = useState<Running | null>(null)
  const [result, setResult] = useState<Result | null>(null)
  const region = useRef<HTMLElement>(null)
  const isRunning = running !== null
  // The button that was pressed is gone; its bar says what comes of it.
  useEffect(() => {
    if (isRunning) region.current?.focus()
  }, [isRunning])

  const counted = (count: number) => `${formatCount(count)} ${bulk.nouns[count === 1 ? 0 : 1]}`
  const rowsOf = ({ applies }: BulkAction<T>) => (applies ? selected.filter(applies) : selected)
  const labelOf = (action: BulkAction<T>) => strings.actionOn(action.label, counted(rowsOf(action).length))

  async function start(action: BulkAction<T>) {
    const rows = rowsOf(action)
    const stopping = new AbortController()
    const { label } = action
    setAsked(null)
    setResult(null)
    setRunning({ label, total: rows.length, done: 0, stop: () => stopping.abort() })
    const failures = await action.run(rows, {
      signal: stopping.signal,
      onProgress: (done) => setRunning((now) => now && { ...now, done }),
    })
    selection.set(
      rows.filter((_, n) => failures[n] === null),
      false,
    )
    setRunning(null)
    setResult({
      label,
      total: rows.length,
      failures: rows.flatMap((row, n) =>
        failures[n] === null ? [] : [{ name: bulk.name(row), reason: errorText(failures[n]) }],
      ),
    })
  }

  if (!running && !result && selected.length === 0) return null
  const hidden = selected.length - selected.filter((row) => shown.includes(row)).length
  return (
    <section ref={region} className={styles.bar} aria-label={strings.selectedRows} tabIndex={-1}>
      {result && <ResultOf result={result} counted={counted} onClose={() => setResult(null)} />}
      {running ? (
        <Group gap="sm">
          <span role="status">{strings.doneOf(running.label, formatCount(running.done), counted(running.total))}</span>
          <Progress
            value={(100 * running.done) / running.total}
            aria-label={strings.progressOf(running.label)}
            className={styles.progress}
          />
          <Button variant="default" size="xs" onClick={running.stop}>
            {strings.stop}
          </Button>
        </Group>
      ) : (
        selected.length > 0 && (
          <Group gap="xs">
            <span role="status" className={styles.count}>
              {strings.selected(counted(selected.length))}
              {hidden > 0 && strings.notShown(formatCount(hidden))}
            </span>
            {bulk.actions.map((action) => {
              const count = rowsOf(action).length
              return (
                <Button
                  key={action.label}
                  variant="default"
                  size="xs"
                  disabled={count === 0}
                  onClick={() => (action.effect ? setAsked(action) : void start(action))}
                >
                  {count === selected.length || count === 0 ? action.label : labelOf(action)}
                </Button>
              )
            })}
            <Button variant="subtle" size="xs" onClick={() => selection.set(selected, false)}>
              {strings.clearSelection}
            </Button>
          </Group>
        )
      )}
      <Dialog title={asked ? labelOf(asked) : ''} opened={asked !== null} onClose={() => setAsked(null)}>
        <p>{asked?.effect}</p>
        {asked && <Names label={strings.namesOf(asked.label)} names={rowsOf(asked).map(bulk.name)} />}
        <Group justify="end" mt="md">
          <Button variant="default" onClick={() => setAsked(null)} data-autofocus>
            {strings.cancel}
          </Button>
          <Button color="red" onClick={() => asked && void start(asked)}>
            {asked && labelOf(asked)}
          </Button>
        </Group>
      </Dialog>
    </section>
  )
}

function ResultOf(props: { result: Result; counted: (count: number) => string; onClose: () => void }) {
  const { label, total, failures } = props.result
  return (
    <div className={styles.result}>
      <Group gap="xs" justify="space-between">
        <Notice
          tone={failures.length > 0 ? 'bad' : 'good'}
          title={strings.doneOf(label, formatCount(total - failures.length), props.counted(total))}
        />
        <Button variant="subtle" size="xs" onClick={props.onClose}>
          {strings.dismiss}
        </Button>
      </Group>
      {failures.length > 0 && (
        <Names label={strings.failures} names={failures.map(({ name, reason }) => strings.failed(name, reason))} />
      )}
    </div>
  )
}

/** Names below one another; many scroll inside themselves. */
function Names({ label, names }: { label: string; names: string[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard (axe: scrollable-region-focusable)
    <ul className={styles.names} aria-label={label} tabIndex={0}>
      {names.map((name, n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two rows may have one name, and the list never changes its order
        <li key={n}>{name}</li>
      ))}
    </ul>
  )
}
