import { Checkbox } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { curvesQuery } from '~/api/curves'
import { EditorsOnly } from '~/api/EditorsOnly'
import type { Curve } from '~/api/types'
import { SmallCurve } from '~/charts/curve/SmallCurve'
import { formatMicroseconds, formatShare } from '~/lib/performance'
import { COMPARED_MAX } from '~/lib/searchParams'
import { ButtonLink, TextLink } from '~/ui/links'
import { Page } from '~/ui/Page'
import { Notice } from '~/ui/State'
import { Unloaded } from '~/ui/Unloaded'
import { Comparison } from './Comparison'
import styles from './curves.module.css'
import { bandOf, ownColour } from './drawing'
import { type CurvesSearch, compared } from './search'
import { strings } from './strings'

interface Props {
  search: CurvesSearch
  onSearch: (patch: CurvesSearch) => void
}

/** All curves: the tenant's and published ones. */
export function GalleryPage({ search, onSearch }: Props) {
  const curves = useQuery(curvesQuery)
  if (!curves.data) {
    return <Unloaded query={curves} title={strings.curves} what={strings.curvesLower} failed={strings.curves} />
  }
  const chosen = compared(search.compare)
  const together = chosen.flatMap((id) => curves.data.find((curve) => curve.id === id) ?? [])
  const toggle = (id: string) =>
    onSearch({ compare: (chosen.includes(id) ? chosen.filter((other) => other !== id) : [...chosen, id]).join(',') })
  const section = (origin: Curve['origin']) => curves.data.filter((curve) => curve.origin === origin)
  const shared = { chosen, toggle }
  return (
    <Page
      title={strings.curves}
      lead={strings.curvesLead}
      action={
        <EditorsOnly>
          <ButtonLink to="/curves/new">{strings.addMeasurements}</ButtonLink>
        </EditorsOnly>
      }
    >
      {together.length > 0 && (
        <Comparison
          curves={together}
          added={search.added}
          onAdded={(added) => onSearch({ added })}
          onClear={() => onSearch({ compare: '' })}
        />
      )}
      {chosen.length >= COMPARED_MAX && <Notice tone="info">{strings.mostCompared(COMPARED_MAX)}</Notice>}
      <section className={styles.section}>
        <h2>{strings.yours}</h2>
        {section('own').length > 0 ? (
          <Cards curves={section('own')} {...shared} />
        ) : (
          <p className={styles.lead}>
            {strings.noOwnCurves}{' '}
            <TextLink underline="always" to="/curves/new">
              {strings.addMeasurementsLower}
            </TextLink>
            .
          </p>
        )}
      </section>
      <section className={styles.section}>
        <h2>{strings.published}</h2>
        <p className={styles.lead}>{strings.publishedLead}</p>
        <Cards curves={section('published')} {...shared} />
      </section>
    </Page>
  )
}

function Cards({ curves, chosen, toggle }: { curves: Curve[]; chosen: string[]; toggle: (id: string) => void }) {
  return (
    <ul className={styles.cards}>
      {curves.map((curve) => (
        <li key={curve.id} className={styles.card}>
          <div className={styles.cardHead}>
            <h3>
              <Link to="/curves/$curveId" params={{ curveId: curve.id }}>
                {curve.name}
              </Link>
            </h3>
            <Checkbox
              size="xs"
              label={strings.compare}
              aria-label={strings.compareName(curve.name)}
              checked={chosen.includes(curve.id)}
              disabled={!chosen.includes(curve.id) && chosen.length >= COMPARED_MAX}
              onChange={() => toggle(curve.id)}
            />
          </div>
          <SmallCurve
            points={{ x: curve.outline.added_us, y: curve.outline.performance }}
            band={bandOf(curve.outline)}
            colour={ownColour(curve.origin)}
          />
          <p className={styles.facts}>
            <strong>{formatShare(curve.version.smallest)}</strong>{' '}
            {strings.ofPeakAt(formatMicroseconds(curve.version.domain_us))}
            {curve.version.warnings.length > 0 && (
              <span className={styles.warned}>
                {curve.version.warnings.length === 1
                  ? strings.oneWarning
                  : strings.warnings(curve.version.warnings.length)}
              </span>
            )}
          </p>
        </li>
      ))}
    </ul>
  )
}
