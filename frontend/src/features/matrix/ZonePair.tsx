import { Button, Group, VisuallyHidden } from '@mantine/core'
import type { When } from '~/api/measurements'
import type { Shape } from '~/charts/heatmap/view'
import type { Entry } from './axes'
import styles from './matrix.module.css'
import type { MatrixSearch } from './search'
import { strings } from './strings'
import { UsualFigures } from './UsualFigures'
import { ZoneBudget } from './ZoneBudget'
import { ZoneFigures } from './ZoneFigures'

interface Props {
  meshId: string
  zones: [Entry, Entry]
  when: When | undefined
  shape: Shape
  onAxis: (patch: MatrixSearch) => void
}

/** The zone pair that the heatmap shows, and the ways back to the whole mesh. */
export default function ZonePair({ meshId, zones: [source, target], when, shape, onAxis }: Props) {
  return (
    <section className={styles.card} aria-label={strings.selectedZonePair}>
      <header className={styles.cardHead}>
        <h2>
          {source.name} <span aria-hidden="true">→</span>
          <VisuallyHidden> {strings.toLower} </VisuallyHidden> {target.name}
        </h2>
        <p>{strings.zonePairSummary(shape.rows, shape.columns)}</p>
      </header>
      <ZoneFigures meshId={meshId} source={source.id} target={target.id} when={when} />
      {!when && <UsualFigures meshId={meshId} by="zone" source={source.id} target={target.id} />}
      <ZoneBudget meshId={meshId} source={source.id} target={target.id} />
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
