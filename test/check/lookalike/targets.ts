import type { LookalikeTarget } from "../../../src/check/lookalike/known-names.ts"

/** Providers in order of their size, a realistic part of the real list. */
const PROVIDERS = `gmail.com yahoo.com hotmail.com outlook.com icloud.com aol.com protonmail.com live.com
    yandex.ru mail.ru msn.com qq.com 163.com googlemail.com me.com proton.me gmx.de web.de gmx.net yahoo.co.uk
    hotmail.co.uk hotmail.fr yahoo.fr orange.fr wanadoo.fr free.fr laposte.net sfr.fr t-online.de freenet.de
    outlook.de hotmail.de yahoo.de comcast.net verizon.net att.net sbcglobal.net bellsouth.net cox.net charter.net
    libero.it virgilio.it tiscali.it alice.it hotmail.it yahoo.it rediffmail.com yahoo.co.in zoho.com mail.com
    ymail.com rocketmail.com fastmail.com naver.com hanmail.net daum.net 126.com sina.com foxmail.com yahoo.co.jp
    yahoo.com.br uol.com.br bol.com.br terra.com.br hotmail.es yahoo.es bigpond.com optusnet.com.au btinternet.com
    sky.com talktalk.net ntlworld.com shaw.ca rogers.com sympatico.ca ziggo.nl telenet.be skynet.be bluewin.ch
    seznam.cz centrum.cz wp.pl o2.pl onet.pl interia.pl abv.bg inbox.lv rambler.ru bk.ru list.ru inbox.ru
    tutanota.com tuta.com hushmail.com mailfence.com mailbox.org posteo.de email.com mac.com gmx.com gmx.at gmx.ch
    earthlink.net juno.com windstream.net frontier.com lycos.com outlook.fr live.fr yandex.com ukr.net i.ua
    walla.co.il mail.bg post.cz email.cz hey.com pm.me`

const ORGANISATIONS = `google.com microsoft.com apple.com amazon.com facebook.com paypal.com netflix.com
    instagram.com linkedin.com twitter.com x.com wikipedia.org github.com gitlab.com adobe.com salesforce.com
    oracle.com ibm.com intel.com cisco.com dell.com hp.com samsung.com sony.com lg.com nokia.com ericsson.com
    huawei.com dropbox.com slack.com zoom.us notion.so atlassian.com shopify.com stripe.com square.com klarna.com
    adyen.com wise.com revolut.com coinbase.com binance.com kraken.com chase.com wellsfargo.com bankofamerica.com
    citi.com hsbc.com barclays.co.uk lloydsbank.com natwest.com santander.com bbva.com ing.com abnamro.nl
    rabobank.nl ubs.com credit-suisse.com deutsche-bank.de commerzbank.de sparkasse.de bnpparibas.com
    credit-agricole.fr societegenerale.com unicredit.it intesasanpaolo.com visa.com mastercard.com
    americanexpress.com discover.com capitalone.com usbank.com pnc.com dhl.com dhl.de ups.com usps.com fedex.com
    dpd.com gls-group.eu hermesworld.com tnt.com royalmail.com deutschepost.de laposte.fr poste.it correos.es
    ebay.com ebay.de amazon.de amazon.co.uk walmart.com target.com costco.com bestbuy.com homedepot.com lowes.com
    kroger.com ikea.com hm.com zara.com nike.com adidas.com puma.com gap.com boots.com tesco.com sainsburys.co.uk
    next.co.uk aldi.com lidl.de rewe.de edeka.de otto.de zalando.de booking.com airbnb.com expedia.com
    tripadvisor.com uber.com lyft.com delta.com united.com aa.com lufthansa.com ryanair.com easyjet.com
    emirates.com ford.com gm.com toyota.com honda.com bmw.com bmw.de volkswagen.de mercedes-benz.com audi.com
    tesla.com volvo.com renault.fr peugeot.com citroen.fr shell.com bp.com totalenergies.com exxonmobil.com
    siemens.com bosch.com basf.com bayer.com sap.com telekom.de vodafone.com orange.com verizon.com att.com
    comcast.com tmobile.com o2.de sprint.com box.com spotify.com twitch.tv discord.com reddit.com pinterest.com
    snapchat.com tiktok.com whatsapp.com telegram.org signal.org steampowered.com epicgames.com roblox.com
    nintendo.com ea.com disney.com hulu.com hbo.com bbc.co.uk cnn.com nytimes.com theguardian.com bloomberg.com
    reuters.com forbes.com wordpress.com godaddy.com cloudflare.com digitalocean.com heroku.com docker.com
    mongodb.com okta.com twilio.com zendesk.com hubspot.com mailchimp.com docusign.com intuit.com workday.com
    servicenow.com accenture.com deloitte.com pwc.com ey.com kpmg.com mckinsey.com nestle.com unilever.com
    danone.com cocacola.com pepsico.com mcdonalds.com starbucks.com heineken.com pfizer.com novartis.com roche.com
    sanofi.com gsk.com merck.com allianz.de axa.com aetna.com metlife.com geico.com progressive.com statefarm.com
    ledger.com metamask.io alibaba.com baidu.com tencent.com rakuten.co.jp canva.com figma.com openai.com
    nvidia.com amd.com 7eleven.com 1und1.de sky.it`

const names = (text: string): readonly string[] => text.split(/\s+/)

/** Names that people mistype and imitate, in order of weight. */
export const TARGETS: readonly LookalikeTarget[] = [
  ...names(PROVIDERS).map(name => ({ name, kind: "provider" }) as const),
  ...names(ORGANISATIONS).map(name => ({ name, kind: "organisation" }) as const),
]
