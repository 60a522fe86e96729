import { useQuery } from '@tanstack/react-query'
import { computeMixQuery } from '~/api/advisors'
import { Page } from '~/ui/Page'
import { QueryResult } from '~/ui/QueryResult'
import styles from '../advisors.module.css'
import { MixForm } from './MixForm'
import { MixResults } from './MixResults'
import { PriceBasis } from './PriceBasis'
import { PriceLists } from './PriceLists'
import { ProviderPrices } from './ProviderPrices'
import { FIRST, type MixSearch, requestOf } from './question'
import { strings } from './strings'

interface Props {
  search: MixSearch
  onSearch: (question: MixSearch) => void
}

/** The cheapest mix of VMs and serverless for a service; the address holds the question. */
export function ComputeMixPage({ search, onSearch }: Props) {
  const asked = { ...FIRST, ...search }
  const query = useQuery(computeMixQuery(requestOf(asked)))
  return (
    <Page title={strings.computeMix} lead={strings.computeMixLead}>
      <MixForm asked={asked} onAsk={onSearch} />
      <QueryResult query={query} what={strings.computeMixLower}>
        {(mix) => (
          <div className={styles.results}>
            <MixResults mix={mix} asked={asked} />
            <ProviderPrices mix={mix} asked={asked} />
          </div>
        )}
      </QueryResult>
      <PriceBasis asked={asked} />
      <PriceLists />
    </Page>
  )
}
