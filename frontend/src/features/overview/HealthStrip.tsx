import { Link } from '@tanstack/react-router'
import { serverNow } from '~/api/connection'
import type { MeshHealth } from '~/api/overview'
import { NOW } from '~/lib/spans'
import { formatMinute, formatMoments } from '~/lib/time'
import { useClock } from '~/ui/clock'
import { SEVERITIES } from '~/ui/severity'
import { useNow } from '~/ui/useNow'
import { useRoving } from '~/ui/useRoving'
import styles from './overview.module.css'
import { type Slot, slotsOf } from './slots'
import { strings } from './strings'

/** Hours between two labels of the time axis. */
const LABEL_EVERY = 6

/** The last 24 hours of a mesh, an hour a slot. A slot opens its incidents, or the heatmap of its hour. */
export function HealthStrip({ mesh }: { mesh: MeshHealth }) {
  const clock = useClock()
  const now = useNow(60_000, serverNow)
  const slots = slotsOf(mesh, now)
  const roving = useRoving(
    slots.map(() => true),
    slots.length,
  )
  const time = (at: number) => formatMinute(new Date(at), clock)
  return (
    <div className={styles.strip}>
      <ul data-roving aria-label={strings.strip(mesh.name)}>
        {slots.map((slot, index) => {
          const times = formatMoments(new Date(slot.from), new Date(slot.to), clock, now, formatMinute)
          const label = strings.slot(times, state(slot))
          const link = {
            ...roving(index),
            className: styles.slot,
            'aria-label': label,
            title: label,
            'data-tone': slot.severity ? SEVERITIES[slot.severity].tone : slot.isKnown ? 'good' : undefined,
          }
          return (
            <li key={slot.from}>
              <SlotLink mesh={mesh} slot={slot} isLast={index === slots.length - 1} link={link} />
            </li>
          )
        })}
      </ul>
      <div className={styles.axis} aria-hidden="true">
        {slots
          .filter((_, index) => index % LABEL_EVERY === 0)
          .map(({ from }) => (
            <span key={from}>{time(from)}</span>
          ))}
        <span>{strings.now}</span>
      </div>
      {slots.some(({ isKnown, severity }) => !isKnown && severity === null) && (
        <p className={styles.hint}>{strings.hatched}</p>
      )}
    </div>
  )
}

function state({ incidents, severity, isKnown }: Slot): string {
  if (severity === null) return isKnown ? strings.slotQuiet : strings.slotUnknown
  const { word } = SEVERITIES[severity]
  return incidents.length === 1
    ? strings.slotIncident(word, incidents[0]?.title ?? '')
    : strings.slotIncidents(incidents.length, word.toLowerCase())
}

interface LinkProps {
  mesh: MeshHealth
  slot: Slot
  isLast: boolean
  link: object
}

function SlotLink({ mesh, slot: { incidents, to }, isLast, link }: LinkProps) {
  const [first, second] = incidents
  if (first && second) return <Link {...link} to="/incidents" search={{ show: 'all' }} />
  if (first) return <Link {...link} to="/incidents/$incidentId" params={{ incidentId: first.id }} />
  const hour = { ...NOW, span: '1h' as const }
  const search = isLast ? hour : { ...hour, until: new Date(to).toISOString() }
  return <Link {...link} to="/meshes/$meshId" params={{ meshId: mesh.id }} search={search} />
}
