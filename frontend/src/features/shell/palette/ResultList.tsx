import { useEffect } from 'react'
import { strings } from '../strings'
import type { Entry } from './entries'
import styles from './palette.module.css'
import type { Results } from './useResults'

interface Props {
  id: string
  groups: Results['groups']
  /** Index of the active entry over all groups. */
  active: number
  optionId: (index: number) => string
  onHover: (index: number) => void
  onOpen: (entry: Entry) => void
}

/** The results of the palette in groups: the list that belongs to its field. */
export function ResultList({ id, groups, active, optionId, onHover, onOpen }: Props) {
  const activeId = optionId(active)
  useEffect(() => {
    document.getElementById(activeId)?.scrollIntoView({ block: 'nearest' })
  }, [activeId])
  let index = 0
  return (
    <div id={id} role="listbox" aria-label={strings.results} className={styles.list}>
      {groups.map(({ title, entries }, group) => (
        // biome-ignore lint/a11y/useSemanticElements: a list box has no element for its groups
        <div key={title} role="group" aria-labelledby={`${id}-group-${group}`}>
          <div id={`${id}-group-${group}`} className={styles.title}>
            {title}
          </div>
          {entries.map((entry) => {
            const own = index++
            return (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the focus and handles the keys
              <div
                key={entry.id}
                id={optionId(own)}
                role="option"
                tabIndex={-1}
                aria-selected={own === active}
                className={styles.entry}
                onMouseMove={() => onHover(own)}
                onMouseDown={(event) => event.preventDefault()}
                onClick={() => onOpen(entry)}
              >
                <entry.Icon />
                <span className={styles.name}>{entry.name}</span>
                {entry.detail && <span className={styles.detail}>{entry.detail}</span>}
              </div>
            )
          })}
        </div>
      ))}
    </div>
  )
}
