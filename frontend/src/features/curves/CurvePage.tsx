import { Anchor, Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useEdits } from '~/api/access'
import { curveCostQuery, curvePointsQuery, curveQuery, useDeleteCurve } from '~/api/curves'
import type { CurveDetail } from '~/api/types'
import { CurveChart } from '~/charts/curve/CurveChart'
import { Residuals } from '~/charts/curve/Residuals'
import { formatMicroseconds, formatTick } from '~/lib/performance'
import type { Patch } from '~/lib/searchParams'
import { formatWhole } from '~/lib/units'
import { DeleteButton } from '~/ui/DeleteButton'
import { ButtonLink } from '~/ui/links'
import { Page } from '~/ui/Page'
import { PictureMenu } from '~/ui/PictureMenu'
import { Notice } from '~/ui/State'
import { Term } from '~/ui/Term'
import { Unloaded } from '~/ui/Unloaded'
import { About } from './About'
import { CostPanel } from './CostPanel'
import styles from './curves.module.css'
import { joined, lineOf, ownColour } from './drawing'
import { LearningOf } from './Learning'
import { Rename } from './Rename'
import type { CurveSearch } from './search'
import { strings } from './strings'
import { Candidates, Stated, Versions } from './Tables'

interface Props {
  curveId: string
  search: CurveSearch
  onSearch: (patch: Patch<CurveSearch>) => void
}

/** One curve: its measurements, the fit, its accuracy, and the cost of added latency. */
export function CurvePage({ curveId, search, onSearch }: Props) {
  const query = useQuery(curveQuery(curveId, search.number))
  if (!query.data) {
    return <Unloaded query={query} title={strings.curve} what={strings.curveLower} failed={strings.theCurve} />
  }
  return <Shown key={curveId} curve={query.data.curve} etag={query.data.etag} search={search} onSearch={onSearch} />
}

function Shown({ curve, etag, search, onSearch }: { curve: CurveDetail; etag: string } & Omit<Props, 'curveId'>) {
  const { version } = curve
  const domain = version.domain_us
  const rest = Math.min(search.added ?? 0, domain * 1.5)
  const [moving, setMoving] = useState(rest)
  const [settled, setSettled] = useState(rest)
  if (settled !== rest) {
    setSettled(rest)
    setMoving(rest)
  }
  const cost = useQuery(curveCostQuery(curve.id, { ...search, number: version.number, added: rest }))
  return (
    <Page
      title={curve.name}
      lead={curve.description || (curve.origin === 'published' ? strings.published : strings.measuredByYou)}
      action={<Actions curve={curve} etag={etag} />}
    >
      {version.number < curve.newest && (
        <Notice tone="info" title={strings.versionOf(version.number, curve.newest)}>
          <Anchor component="button" type="button" size="sm" onClick={() => onSearch({ number: undefined })}>
            {strings.showNewest}
          </Anchor>
        </Notice>
      )}
      {version.warnings.length > 0 && (
        <div className={styles.warnings}>
          {version.warnings.map((warning) => (
            <Notice key={warning.code} tone="warn">
              {warning.message}
            </Notice>
          ))}
        </div>
      )}
      <CurveFigure curve={curve} added={moving} cost={cost.data} />
      <CostPanel
        cost={cost.data}
        error={cost.error}
        waiting={cost.isPlaceholderData}
        domain={domain}
        added={rest}
        search={search}
        onMove={setMoving}
        onSearch={onSearch}
      />
      {/* What is below the costs appears with them, so that nothing moves. */}
      {(cost.data || cost.error) && <Measurements curve={curve} onNumber={(number) => onSearch({ number })} />}
    </Page>
  )
}

/** The fit with its residuals and candidates, and what the curve comes from. */
function Measurements({ curve, onNumber }: { curve: CurveDetail; onNumber: (number: number | undefined) => void }) {
  const { version } = curve
  const domain = version.domain_us
  return (
    <>
      <section className={styles.panel}>
        <h2>{strings.fitTitle}</h2>
        <p className={styles.text}>{version.reason}</p>
        <About curve={curve} />
      </section>
      {version.samples.length > 0 && (
        <section className={styles.panel}>
          <div className={styles.panelHead}>
            <h2>
              <Term of="residual">{strings.residuals}</Term>
            </h2>
            <PictureMenu title={strings.residuals} note={strings.residualsLead} withTable={false} />
          </div>
          <p className={styles.text}>{strings.residualsLead}</p>
          <Residuals
            label={residualsInWords(version.samples.map(({ standardised }) => standardised))}
            height={170}
            x={[0, domain * 1.12]}
            dots={version.samples.map(({ added_us, standardised }) => ({ x: added_us, y: standardised }))}
            formatX={formatTick}
          />
        </section>
      )}
      <Candidates version={version} />
      <Stated curve={curve} />
      {curve.origin === 'own' && <LearningOf curve={curve} />}
      <Versions curve={curve} onNumber={onNumber} />
    </>
  )
}

function residualsInWords(residuals: number[]): string {
  const outside = residuals.filter((residual) => Math.abs(residual) > 2).length
  return strings.residualsSummary(residuals.length, outside)
}

interface CurveFigureProps {
  curve: CurveDetail
  added: number
  cost: Parameters<typeof CostPanel>[0]['cost']
}

function CurveFigure({ curve, added, cost }: CurveFigureProps) {
  const { version } = curve
  const domain = version.domain_us
  const points = useQuery(curvePointsQuery(curve.id, version.number, Math.max(domain / 400, 0.001)))
  const colour = ownColour(curve.origin)
  const drawn = points.data ? joined(points.data, curve.outline) : curve.outline
  const threshold = version.threshold
  const dots =
    version.samples.length > 0
      ? version.samples.map(({ added_us, performance, error }) => ({ x: added_us, y: performance, error }))
      : version.stated
          .filter(({ setup }) => setup === '')
          .map(({ added_us, performance }) => ({ x: added_us, y: performance, error: null }))
  const most = Math.max(1, ...dots.map(({ y, error }) => y + (error ?? 0)))
  const percentiles = cost?.measured?.percentiles_ns
  const reference = cost?.reference_us ?? 0
  const shifted = (by: number) => percentiles?.map((ns) => Math.max(0, ns / 1_000 - reference + by))
  const now = shifted(0)
  const then = shifted(added)
  return (
    <section className={styles.panel}>
      <div className={styles.panelHead}>
        <h2>{strings.curveTitle}</h2>
        <PictureMenu title={strings.curveOf(curve.name)} />
      </div>
      <CurveChart
        label={inWords(curve)}
        height={360}
        lines={[{ ...lineOf(curve.id, drawn, { colour }), label: curve.name }]}
        dots={dots}
        marks={[
          ...(threshold
            ? [
                {
                  key: 'threshold',
                  x: threshold.at_us,
                  label: strings.flatUntilMark(formatMicroseconds(threshold.at_us)),
                  colour: 'var(--line-3)',
                  interval:
                    threshold.low_us !== null && threshold.high_us !== null
                      ? ([threshold.low_us, threshold.high_us] as const)
                      : null,
                },
              ]
            : []),
          ...(added > 0
            ? [{ key: 'added', x: added, label: `+${formatMicroseconds(added)}`, colour: 'var(--line-2)' }]
            : []),
        ]}
        strips={[
          ...(now ? [{ key: 'now', label: strings.nowLower, colour: 'var(--ink-2)', percentiles: now }] : []),
          ...(then && added > 0
            ? [{ key: 'then', label: strings.thenLower, colour: 'var(--line-2)', percentiles: then }]
            : []),
        ]}
        x={[0, domain * 1.12]}
        y={[0, most > 1 ? Math.max(1.05, most) : 1]}
        domainEnd={domain}
        xLabel={strings.addedRoundTrip}
        formatX={formatTick}
        formatY={formatWhole}
      />
      <p className={styles.legend}>
        <span>{strings.legendLine}</span>
        <span>{strings.legendBand}</span>
        {dots.length > 0 && <span>{version.samples.length > 0 ? strings.legendSamples : strings.legendStated}</span>}
        {threshold?.low_us != null && <span>{strings.legendThreshold}</span>}
        <span>{strings.legendExtrapolated}</span>
        {now && <span>{strings.legendMeasured}</span>}
      </p>
    </section>
  )
}

function inWords({ name, version, outline }: CurveDetail): string {
  const half = outline.performance.findIndex((performance) => performance < 0.5)
  const where = half < 0 ? strings.neverHalved : strings.halvedNear(formatMicroseconds(outline.added_us[half]))
  return strings.curveSummary(name, formatWhole(version.smallest), formatMicroseconds(version.domain_us), where)
}

function Actions({ curve, etag }: { curve: CurveDetail; etag: string }) {
  const navigate = useNavigate()
  const remove = useDeleteCurve()
  const [renaming, setRenaming] = useState(false)
  const edits = useEdits()
  return (
    <div className={styles.place}>
      <ButtonLink variant="default" to="/curves" search={{ compare: curve.id }}>
        {strings.compare}
      </ButtonLink>
      {curve.origin === 'own' && edits && (
        <>
          <Button variant="default" onClick={() => setRenaming(true)}>
            {strings.renameEllipsis}
          </Button>
          <Rename curve={curve} etag={etag} opened={renaming} onClose={() => setRenaming(false)} />
          <DeleteButton name={curve.name} id={curve.id} doing={remove} onDone={() => void navigate({ to: '/curves' })}>
            {strings.deleteEffect}
          </DeleteButton>
          <ButtonLink to="/curves/$curveId/measure" params={{ curveId: curve.id }}>
            {strings.newVersion}
          </ButtonLink>
        </>
      )}
    </div>
  )
}
