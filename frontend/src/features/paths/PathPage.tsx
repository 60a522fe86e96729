import { SegmentedControl, Tabs } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { lazy, type ReactNode, Suspense } from 'react'
import { EditorsOnly } from '~/api/EditorsOnly'
import { pathQuery, pathRange } from '~/api/measurements'
import type { Mesh } from '~/api/types'
import type { Statistic } from '~/lib/dimensions'
import { STATISTIC_OPTIONS } from '~/lib/metrics'
import { sentenceOf } from '~/lib/text'
import { useClock } from '~/ui/clock'
import { useNamedPage } from '~/ui/pageName'
import { Notice } from '~/ui/State'
import { useTime } from '~/ui/time'
import { Unloaded } from '~/ui/Unloaded'
import { Applications } from './Applications'
import { BudgetTab } from './BudgetTab'
import { Directions } from './Directions'
import { DistributionTab } from './DistributionTab'
import { ExchangesTab } from './ExchangesTab'
import { Flows } from './Flows'
import { History } from './History'
import { Incidents } from './Incidents'
import { OnDemandTab } from './on-demand/OnDemandTab'
import { PathHead } from './PathHead'
import { PinRange } from './PinRange'
import styles from './paths.module.css'
import { SymmetryTab } from './SymmetryTab'
import { type PathSearch, TABS, type Tab } from './search'
import { STATE_TEXT } from './states'
import { strings } from './strings'

const WhyTab = lazy(() => import('./why/WhyTab').then(({ WhyTab }) => ({ default: WhyTab })))

interface Props {
  mesh: Mesh
  source: string
  target: string
  search: PathSearch
  onSearch: (patch: PathSearch) => void
  /** What is shown below the history for each end: its VM's id and name. */
  ofVm?: (vmId: string, name: string) => ReactNode
}

const TAB_NAMES: Record<Tab, string> = {
  history: strings.history,
  why: strings.why,
  distribution: strings.distribution,
  symmetry: strings.symmetry,
  budget: strings.latencyBudget,
  flows: strings.flowsTab,
  exchanges: strings.rawExchanges,
  'on-demand': strings.runNow,
}

/** One path in both directions: its history, its distribution, its flows, and what depends on it. */
export function PathPage({ mesh, source, target, search, onSearch, ofVm }: Props) {
  const clock = useClock()
  const time = useTime()
  const statistic = search.statistic ?? 'p50'
  const tab = search.tab ?? 'history'
  const path = useQuery(pathQuery(mesh.id, source, target))

  useNamedPage(path.data && `${path.data.source.name} → ${path.data.target.name}`)

  if (!path.data) {
    return <Unloaded query={path} title={strings.path} what={strings.pathLower} failed={strings.thePath} />
  }
  const { state, no_service } = path.data
  const ends = { meshId: mesh.id, source, target, time }
  return (
    <div className={styles.page}>
      <PathHead
        mesh={mesh}
        path={path.data}
        controls={
          <>
            {tab === 'history' && (
              <SegmentedControl
                aria-label={strings.statistic}
                data={STATISTIC_OPTIONS}
                value={statistic}
                onChange={(value) => onSearch({ statistic: value as Statistic })}
              />
            )}
            <EditorsOnly>
              <PinRange meshId={mesh.id} range={() => pathRange(time)} />
            </EditorsOnly>
          </>
        }
      />
      {STATE_TEXT[state] && (
        <Notice tone={state === 'lost' ? 'bad' : 'warn'}>
          {STATE_TEXT[state]}
          {no_service && <> {sentenceOf(no_service.message)}</>}
        </Notice>
      )}
      <Tabs
        value={tab}
        onChange={(value) => onSearch({ tab: (value ?? 'history') as Tab })}
        keepMounted={false}
        className={styles.tabs}
      >
        <Tabs.List aria-label={strings.views}>
          {TABS.map((value) => (
            <Tabs.Tab key={value} value={value}>
              {TAB_NAMES[value]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="history" className={styles.tab}>
          <History {...ends} path={path.data} statistic={statistic} clock={clock} />
          {ofVm?.(source, path.data.source.name)}
          {ofVm?.(target, path.data.target.name)}
        </Tabs.Panel>
        <Tabs.Panel value="why" className={styles.why}>
          <Suspense>
            <WhyTab meshId={mesh.id} source={source} target={target} path={path.data} />
          </Suspense>
          <Applications meshId={mesh.id} source={source} target={target} />
          <Incidents meshId={mesh.id} source={source} target={target} />
        </Tabs.Panel>
        <Tabs.Panel value="distribution">
          <Directions {...ends}>
            {(outbound, inbound) => (
              <DistributionTab meshId={mesh.id} source={source} target={target} outbound={outbound} inbound={inbound} />
            )}
          </Directions>
        </Tabs.Panel>
        <Tabs.Panel value="symmetry">
          <Directions {...ends}>
            {(outbound, inbound) => <SymmetryTab outbound={outbound} inbound={inbound} />}
          </Directions>
        </Tabs.Panel>
        <Tabs.Panel value="budget">
          <BudgetTab {...ends} search={search} onSearch={onSearch} />
        </Tabs.Panel>
        <Tabs.Panel value="flows">
          <Flows path={path.data} />
        </Tabs.Panel>
        <Tabs.Panel value="exchanges">
          <ExchangesTab {...ends} clock={clock} open={search.spike} onOpen={(spike) => onSearch({ spike })} />
        </Tabs.Panel>
        <Tabs.Panel value="on-demand">
          <OnDemandTab
            meshId={mesh.id}
            source={source}
            target={target}
            clock={clock}
            open={search.run}
            onOpen={(run) => onSearch({ run })}
          />
        </Tabs.Panel>
      </Tabs>
    </div>
  )
}
