import { Button, CloseButton } from '@mantine/core'
import { useState } from 'react'
import type { Roster } from '~/api/types'
import { named } from '~/lib/options'
import { Choice } from '~/ui/Choice'
import { lineStyle } from '~/ui/lineStyle'
import styles from './explore.module.css'
import { strings } from './strings'

interface Props {
  roster: Roster
  chosen: string[]
  most: number
  onChange: (selections: string[]) => void
}

/** Return a selection in words; ids that are no longer in the mesh are marked as deleted. */
export function titleOf(selection: string, roster: Roster): string {
  const [kind, source, target] = selection.split(':')
  if (kind === 'mesh') return strings.wholeMesh
  const ends = kind === 'zones' ? roster.zones : roster.vms
  const name = (id: string | undefined) => ends.find((end) => end.id === id)?.name ?? strings.deleted
  return `${name(source)} → ${name(target)}`
}

/** Choose the selections of a query: paths, zone pairs, the whole mesh. */
export function SelectionPicker({ roster, chosen, most, onChange }: Props) {
  const [kind, setKind] = useState<'path' | 'zones'>('path')
  const ends = kind === 'zones' ? roster.zones : roster.vms
  const [source, setSource] = useState('')
  const [target, setTarget] = useState('')
  const from = ends.some(({ id }) => id === source) ? source : (ends[0]?.id ?? '')
  const to = ends.some(({ id }) => id === target) ? target : (ends[1]?.id ?? ends[0]?.id ?? '')
  const options = named(ends)
  const possible = from !== '' && to !== '' && (kind === 'zones' || from !== to)

  function add(selection: string) {
    const kept = most === 1 ? [] : chosen.filter((item) => item !== selection)
    onChange([...kept, selection].slice(-most))
  }

  return (
    <section className={styles.picker} aria-label={strings.selections}>
      <ul className={styles.chosen}>
        {chosen.map((selection, n) => (
          <li key={selection}>
            <span className={styles.key} style={{ background: lineStyle(n).colour }} />
            {titleOf(selection, roster)}
            {chosen.length > 1 && (
              <CloseButton
                size="xs"
                aria-label={strings.removeName(titleOf(selection, roster))}
                onClick={() => onChange(chosen.filter((item) => item !== selection))}
              />
            )}
          </li>
        ))}
      </ul>
      <div className={styles.controls}>
        <Choice
          aria-label={strings.selectionType}
          size="xs"
          data={{ path: strings.path, zones: strings.zonePair }}
          value={kind}
          onChange={(value) => setKind(value === 'zones' ? 'zones' : 'path')}
        />
        <Choice aria-label={strings.from} size="xs" data={options} value={from} onChange={setSource} />
        <span aria-hidden="true">→</span>
        <Choice aria-label={strings.to} size="xs" data={options} value={to} onChange={setTarget} />
        {possible ? (
          <Button variant="default" size="xs" onClick={() => add(`${kind}:${from}:${to}`)}>
            {most === 1 ? strings.show : strings.add}
          </Button>
        ) : (
          <span role="status">{strings.chooseTwo}</span>
        )}
        {!chosen.includes('mesh') && (
          <Button variant="subtle" size="xs" onClick={() => add('mesh')}>
            {strings.wholeMesh}
          </Button>
        )}
      </div>
    </section>
  )
}
