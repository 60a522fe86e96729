import { VisuallyHidden } from '@mantine/core'
import { hasWorstHours, type When } from '~/api/measurements'
import styles from './matrix.module.css'
import { strings } from './strings'
import { UsualFigures } from './UsualFigures'
import { ZoneFigures } from './ZoneFigures'
import { ZoneProvider } from './ZoneProvider'

interface Props {
  meshId: string
  source: { id: string; name: string }
  target: { id: string; name: string }
  when: When | undefined
}

/** A zone pair: its figures, and its delay now and usually. */
export default function ZoneDetail({ meshId, source, target, when }: Props) {
  return (
    <section className={styles.card} aria-label={strings.selectedZones}>
      <header className={styles.cardHead}>
        <h2>
          {source.name} <span aria-hidden="true">→</span>
          <VisuallyHidden> {strings.toLower} </VisuallyHidden> {target.name}
        </h2>
        <p>{strings.zoneHint}</p>
      </header>
      <ZoneFigures meshId={meshId} source={source.id} target={target.id} when={when} />
      {(!when || hasWorstHours(when)) && (
        <UsualFigures meshId={meshId} by="zone" source={source.id} target={target.id} when={when} />
      )}
      <ZoneProvider meshId={meshId} source={source.id} target={target.id} />
    </section>
  )
}
