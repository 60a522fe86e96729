import { Button, Group } from '@mantine/core'
import type { Shape } from '~/charts/heatmap/view'
import type { Entry } from './axes'
import styles from './matrix.module.css'
import type { MatrixSearch } from './search'
import { strings } from './strings'

interface Props {
  zones: [Entry, Entry]
  shape: Shape
  onAxis: (patch: MatrixSearch) => void
}

/** The zone pair that the heatmap shows, and the ways back to the whole mesh. */
export function ZonePair({ zones: [source, target], shape, onAxis }: Props) {
  return (
    <section className={styles.card} aria-label={strings.selectedZonePair}>
      <header className={styles.cardHead}>
        <h2>
          {source.name} <span aria-hidden="true">→</span>
          <span className={styles.hidden}> {strings.toLower} </span> {target.name}
        </h2>
        <p>{strings.zonePairSummary(shape.rows, shape.columns)}</p>
      </header>
      <Group gap="xs">
        <Button variant="default" onClick={() => onAxis({ by: 'zone', scale: '' })}>
          {strings.showZones}
        </Button>
        <Button variant="default" onClick={() => onAxis({ by: 'vm', scale: '' })}>
          {strings.showAllVms}
        </Button>
      </Group>
    </section>
  )
}
