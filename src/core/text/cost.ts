/** For the user: 'about $0.73 at list prices', 'under $0.01 at list prices'. */
export function costText(usd: number): string {
  return `${usd < 0.01 ? 'under $0.01' : `about $${usd.toFixed(2)}`} at list prices`;
}
