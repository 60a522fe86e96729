import { useState } from 'react'
import type { Application } from '~/api/types'
import { type Change, placesAfter } from '~/lib/changes'
import { Panel, pageStyles } from '~/ui/Page'
import styles from './scenarios.module.css'
import { strings } from './strings'

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
        const isHeld = held?.application === application && held.task === task
        return (
          <button
            key={`${application} ${task}`}
            type="button"
            draggable
            className={before === vm ? styles.chip : `${styles.chip} ${styles.moved}`}
            aria-pressed={isHeld}
            aria-label={`${application} / ${task}${root ? strings.rootSuffix : ''}: ${isHeld ? strings.picked : strings.pickUp}`}
            onClick={() => setHeld(isHeld ? null : { application, task })}
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
          aria-label={strings.placeOn(held.task, name)}
          onClick={() => put(vm)}
        >
          {strings.placeHere}
        </button>
      )}
    </li>
  )

  return (
    <Panel title={strings.tasksAndVms}>
      <p className={pageStyles.lead}>
        {strings.boardHint} <em>{strings.placeHere}</em>
        {strings.boardHintEnd}
      </p>
      <div className={styles.board}>
        {zones.map((zone) => (
          <section key={zone} className={gone.has(zone) ? `${styles.zone} ${styles.gone}` : styles.zone}>
            <header className={styles.zoneHead}>
              <h3>{zone}</h3>
              {gone.has(zone) ? (
                <span className={pageStyles.quiet}>{strings.removedLower}</span>
              ) : (
                <button
                  type="button"
                  className={styles.here}
                  aria-label={strings.removeZoneName(zone)}
                  onClick={() => onChange({ kind: 'drop_zone', zone })}
                >
                  {strings.removeZone}
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
            <h3>{strings.unplaced}</h3>
          </header>
          <ul className={styles.vms}>{place(null, strings.noVm)}</ul>
        </section>
      </div>
    </Panel>
  )
}
