import { useState } from 'react'
import type { Application } from '~/api/types'
import { type Change, placesAfter } from '~/lib/changes'
import { Panel, pageStyles } from '~/ui/Page'
import styles from './scenarios.module.css'

interface Props {
  vms: { name: string; zone_name: string }[]
  applications: Application[]
  changes: Change[]
  onChange: (change: Change) => void
}

interface Held {
  application: string
  task: string
}

/** Tasks on VMs, by zone. A task is dragged to another VM, or taken with one key press and put down with another. */
export function Board({ vms, applications, changes, onChange }: Props) {
  const [held, setHeld] = useState<Held | null>(null)
  const tasks = applications.flatMap(({ name, tasks }) =>
    tasks.map((task) => ({ application: name, task: task.name, vm: task.vm?.name ?? null, root: task.root })),
  )
  const zoneOf = new Map(vms.map(({ name, zone_name }) => [name, zone_name]))
  const at = placesAfter(tasks, changes, zoneOf)
  for (const change of changes) if (change.kind === 'vm') zoneOf.set(change.vm, change.zone)
  const gone = new Set(changes.flatMap((change) => (change.kind === 'drop_zone' ? [change.zone] : [])))
  const zones = [...new Set(zoneOf.values())].sort()

  function put(vm: string | null) {
    if (held) onChange({ kind: 'task', ...held, vm })
    setHeld(null)
  }

  const chips = (vm: string | null) =>
    tasks
      .filter(({ application, task }) => at.get(`${application} ${task}`) === vm)
      .map(({ application, task, vm: before, root }) => {
        const mine = held?.application === application && held.task === task
        return (
          <button
            key={`${application} ${task}`}
            type="button"
            draggable
            className={before === vm ? styles.chip : `${styles.chip} ${styles.moved}`}
            aria-pressed={mine}
            aria-label={`${application} / ${task}${root ? ', root' : ''}: ${mine ? 'taken' : 'take'}`}
            onClick={() => setHeld(mine ? null : { application, task })}
            onKeyDown={(event) => event.key === 'Escape' && setHeld(null)}
            onDragStart={(event) => {
              event.dataTransfer.effectAllowed = 'move'
              event.dataTransfer.setData('text/plain', `${application} / ${task}`)
              setHeld({ application, task })
            }}
            onDragEnd={() => setHeld(null)}
          >
            {task}
            {root && <span aria-hidden="true"> ◎</span>}
          </button>
        )
      })

  const place = (vm: string | null, name: string, open = true) => (
    <li
      key={name}
      className={styles.vm}
      onDragOver={(event) => open && event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault()
        if (open) put(vm)
      }}
    >
      <span className={pageStyles.quiet}>{name}</span>
      <span className={styles.chips}>{chips(vm)}</span>
      {open && held && at.get(`${held.application} ${held.task}`) !== vm && (
        <button
          type="button"
          className={styles.here}
          aria-label={`Put ${held.task} on ${name}`}
          onClick={() => put(vm)}
        >
          put here
        </button>
      )}
    </li>
  )

  return (
    <Panel title="Tasks and VMs">
      <p className={pageStyles.lead}>
        Drag a task to another VM; by keyboard, press a task to take it, then <em>put here</em>. Escape lets go.
      </p>
      <div className={styles.board}>
        {zones.map((zone) => (
          <section key={zone} className={gone.has(zone) ? `${styles.zone} ${styles.gone}` : styles.zone}>
            <header className={styles.zoneHead}>
              <h3>{zone}</h3>
              {gone.has(zone) ? (
                <span className={pageStyles.quiet}>gone</span>
              ) : (
                <button
                  type="button"
                  className={styles.here}
                  aria-label={`Drop zone ${zone}`}
                  onClick={() => onChange({ kind: 'drop_zone', zone })}
                >
                  drop
                </button>
              )}
            </header>
            <ul className={styles.vms}>
              {vms
                .filter(({ name }) => zoneOf.get(name) === zone)
                .map(({ name }) => place(name, name, !gone.has(zone)))}
            </ul>
          </section>
        ))}
        <section className={styles.zone}>
          <header className={styles.zoneHead}>
            <h3>Waiting</h3>
          </header>
          <ul className={styles.vms}>{place(null, 'no VM')}</ul>
        </section>
      </div>
    </Panel>
  )
}
