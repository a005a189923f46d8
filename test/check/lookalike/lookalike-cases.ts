/** Lines of `meant: domain domain …`. */
const pairs = (text: string): readonly (readonly [domain: string, meant: string])[] =>
  text.split("\n").flatMap(line => {
    const [meant = "", ...domains] = line.trim().split(/[:\s]+/)
    return domains.map(domain => [domain, meant] as const)
  })

const names = (text: string): readonly string[] => text.split(/\s+/)

/** Typos, by the provider that was meant. */
export const SLIPS =
  pairs(`gmail.com: gmial.com gmai.com gmal.com gmil.com gmaill.com gnail.com gmali.com hgmail.com mgail.com gamil.com
  gmail.com: gmail.con gmail.co gmail.cm gmail.om gmail.cmo gmail.vom gmail.xom gmail.comm gmail.cpm gmail.net
  gmail.com: gmail.org gmail.de
  gmail.com: gmail.fr gmail.com.br gmail.co.uk gmailcom gmailc.om gmail gma1l.com gmai1.com xn--gmal-nza.com
  gmail.com: gmaul.com gmaio.com
  gmail.com: gmaik.com gmsil.com gmzil.com gmmail.com gmaail.com ggmail.com gjail.com g-mail.com gmail.co.m
  gmail.com: gemail.com gimail.com gmaxil.com gmanil.com gmila.com xgmail.com gmaili.com gmailc.com gmai9l.com gma8l.com
  gmail.com: 2857gmail.com a01gmail.com 59gmeil.com gmail.com14 gmail.com.cl gmail.commail.com g.mail.com gmal.ru gamil.cl
  gmail.com: gmali.com gmaip.com gmakl.com gamail.com gmaial.com gmaii.com
  hotmail.com: hotmial.com hotmal.com hotmai.com hotmil.com hotnail.com homtail.com htomail.com hotmaill.com
  hotmail.com: hotmail.con hotmali.com
  hotmail.com: ohtmail.com hotamil.com homail.com htmail.com otmail.com hotrmail.com hormail.com hoymail.com
  hotmail.com: hotmaul.com hotmsil.com hotemail.com hot6mail.com h9otmail.com hotmailco.com 12hotmail.com hot.mail.com
  hotmail.com: hotmailcom hotmail.cm hotmail.co hotmail.net hotmail hotmaii.com h0tmail.com hotma1l.com hotrnail.com
  hotmail.com: hot-mail.com
  hotmail.com: hootmail.com hottmail.com hotmmail.com hitmail.com hptmail.com hotmeil.com hotmaio.com hotmaik.com
  hotmail.com: hotmail.com.ar
  yahoo.com: yahoo0.com 71yahoo.com jahoo.com yahoo.c yahoo.comyahoo.com yahoo.com.cl
  yahoo.co.uk: yahoo.com.uk
  yahoo.com: yaho.com yahooo.com yhaoo.com yaboo.com yahoo.con yhoo.com yaoo.com ayhoo.com yahoo.cmo yahoo.cm
  yahoo.com: yahoo.comm
  yahoo.com: yagoo.com yajoo.com yahop.com yahoi.com yah00.com yahoocom yahoo yahho.com yyahoo.com yahoo.net
  yahoo.com: yahol.com yahoo.om yahoo.co uahoo.com gahoo.com
  outlook.com: outlok.com outloook.com outllok.com outlook.con otulook.com oultook.com outolok.com outloko.com
  outlook.com: otlook.com outook.com
  outlook.com: outlool.com outloo.com utlook.com outlookcom outlook.cm outlook.net 0utlook.com out-look.com
  outlook.com: ouutlook.com outpook.com iutlook.com outiook.com outloock.com outlokok.com
  icloud.com: iclod.com icoud.com icluod.com icould.com iclou.com ilcoud.com ciloud.com icloudd.com iccloud.com
  icloud.com: icloud.con icloud.co
  icloud.com: iclound.com icloud.net icloud.cm icloid.com icliud.com icloudcom 1cloud.com lcloud.com
  protonmail.com: protonmial.com protonmal.com protonmai.com portonmail.com protnmail.com protonmail.con
  protonmail.com: protonmail.co proton-mail.com
  aol.com: aoll.com aool.com aaol.com aol.con aol.cmo aol.cm aol.om aolcom
  msn.com: msn.con msn.cm msn.comm
  live.com: live.con liev.com lvie.com livee.com
  me.com: me.con
  qq.com: qq.con qq.cmo
  gmx.de: gmx.dee gmx.ed
  web.de: web.dee web.d webde
  mail.ru: maill.ru maol.ru msil.ru mzil.ru mauil.ru mai1.ru mial.ru
  gmx.de: gmxx.de ggmx.de
  163.com: l63.com i63.com
  abv.bg: abvv.bg
  seznam.cz: seznan.cz sezam.cz
  ziggo.nl: ziggp.nl zigog.nl
  uol.com.br: uol.con.br uol.cmo.br uol.cm.br uoll.com.br
  hotmail.co.uk: hotmail.com.uk hotmail.cp.uk
  t-online.de: t-onlin.de tonline.de t-onilne.de t-online.dee
  freenet.de: freenett.de frenet.de freente.de
  wanadoo.fr: wandoo.fr wanado.fr wanadooo.fr wandaoo.fr
  orange.fr: orangr.fr oarnge.fr orangee.fr orange.ff
  laposte.net: lapsote.net laposte.ney laposre.net
  yandex.ru: eandex.ru jandex.ru yandex.com.ru yandexu.ru yandx.ru yadnex.ru yandex.ruu yanndex.ru
  comcast.net: vomcast.net comcasst.net comcst.net comcats.net comcast.ent comcast.nett
  verizon.net: verizn.net verzion.net verison.net
  sbcglobal.net: sbcgloabl.net sbcglobl.net sbcgobal.net
  bellsouth.net: belsouth.net bellsouht.net
  rediffmail.com: rediffmial.com redifmail.com rediffmail.con
  libero.it: libero.itt lbiero.it liberro.it
  virgilio.it: virglio.it virgillio.it
  yahoo.co.uk: yahoo.uk yahoo.co.ukk yahoo.couk yaho.co.uk yhaoo.co.uk
  hotmail.co.uk: hotmailco.uk hotmial.co.uk hotmai.co.uk
  hotmail.fr: hotmial.fr hotmal.fr
  yahoo.fr: yaho.fr
  fastmail.com: fastmial.com fastmal.com fastmail.con
  btinternet.com: btintenet.com btinterent.com
  tutanota.com: tutanoat.com tutanotta.com`)

/** Real or possible names near a provider's, and others; none has a suggestion. */
export const NO_SLIPS = names(`gmass.co hotmaps.com yahoo-inc.com gmx-team.com me.co ail.com maul.com aoc.com msnbc.com
    icloudsystems.com protons.com tutor.com tuta.org zoho.org mails.com webde.com gail.com hotmart.com proton.com
    fastmail.org out.com icloud9.com cloud.com ucloud.com gotmail.com notmail.com tmail.com fmail.com hmail.com
    bmail.com vmail.com jmail.com xmail.com kmail.com mail.net mail.org mailer.com mailgun.com mailjet.com web.com
    web.org webb.com weber.de wed.de wet.de gmx.org gmz.de live.org live.net life.com love.com like.com alive.com
    olive.com lives.com five.com dive.com give.com msm.com mns.com mcn.com msn.org aol.org alo.com oal.com ao.com
    aal.com all.com acl.com pol.com qq.org q.com qqq.com mq.com me.org em.com mr.com we.com he.com mac.org mca.com
    max.com mace.com macs.com 126.org 162.com 136.com 613.com 164.com gm.com gma.com gmat.com gman.com email.org
    emails.com outlook-inc.com outlooks.com overlook.com outback.com outlaw.com look.com yahoos.com
    yoo.com kahoot.com wahoo.com hulu.com iclouds.com cloudy.com iloud.org hotmails.com hotel.com hotels.com
    hotmama.com hotspot.com gmails.com ymails.com free.com freed.fr fred.fr tree.fr sfr.com str.fr range.fr
    grange.fr orage.fr oranges.fr orange.net libro.it liber.it alice.com alicia.it terra.com tierra.com.br bol.com
    uol.com sky.net skype.com say.com shaw.com show.ca roger.com rodgers.com cox.com fox.net charter.com
    chatter.net cart.net telnet.be telenor.be planet.be bluewin.com sina.org sian.com sine.com never.com navel.com
    daum.org rambler.com rambles.ru centrum.com onet.com inbox.com list.com hey.org hay.com they.com posteo.com
    postel.de post.com juno.org jump.com lycos.org frontier.org windstream.com acme.com example-firm.de mueller.de
    kleinefirma.de thebakery.net paperstreet.io mail.acme.com gmail.acme.com yahoo.blogspot.com gmail.github.io
    hotmail.weebly.com outlook.acme.co.uk smtp.gmial.com
    maik.ru mai.ru mailo.ru mali.ru mil.ru gotmail.com notmail.com putlook.com ucloud.com roger.com
    liber.it live.con.uk mail.con.br orange.com.be sub.uol.con.br uol.con.be skyy.com webb.de weeb.de gm.de cx.net
    libe.com luve.com navex.com naber.com gmeil.net 33mail.com attorney.com zhoo.org comcast.org
    hotmail4.com outlook365.com mygmail.com shotmail.com bigmail.com yahoos.com gmailers.com tempgmail.com 1cloud.ru
    1free.fr 24orange.fr live3.com free3.fr gomail.io yazoo.com gmail.acme.com.cl live.com.cl a.mail.com mail2.ru`)

/** Look-alikes, by the name that they imitate. */
export const LOOKALIKES =
  pairs(`paypal.com: paypa1.com paypai.com paypal-login.com login-paypal.com secure-paypal.com paypal-support.net
  paypal.com: paypal.com.evil.net www.paypal.com.session.evil.net paypallogin.com securepaypal.com
  paypal.com: www-paypal-com.info paypal-secure-login.com
  paypal.com: secure-login-paypal-us.com paypa1-login.com paypa1.net paypal-verification.org paypal-konto.de
  paypal.com: paypal-billing.info
  paypal.com: xn--pypal-4ve.com xn--paypa-9tb.com paypal-account-verify-2024.com verify.paypal.com.evil.ru
  paypal.com: p4ypal.com
  google.com: g00gle.com goog1e.com g0ogle.com googl3.com accounts.google.com.evil.ru google-login.com
  google.com: google-verify.net google-com.ru
  microsoft.com: micr0soft.com rnicrosoft.com microsoft-verify.com microsoftsupport.com mlcrosoft.com
  microsoft.com: microsoft-account.net m1crosoft.com
  microsoft.com: login-microsoft.com microsoft-security-alert.com rnicrosoft-support.com
  amazon.com: amaz0n.com arnazon.com amazon-login.com 4mazon.com amazon-verify.org amazon-billing.com
  amazon.com: amazon-refund.net xn--mzn-elan1g.com
  apple.com: xn--80ak6aa92e.com app1e.com account-apple.com apple-login.com appleid-verify.com apple-verify.net
  facebook.com: faceb00k.com facebo0k.com facebook-login.com faceb0ok.net facebook-security.com f4cebook.com
  netflix.com: netfllx.com netf1ix.com netflix-billing.com netflix-payment.info netfl1x.com
  instagram.com: lnstagram.com 1nstagram.com instagram-verify.com instagrarn.com instagram-support.com
  instagram.com: xn--instgram-cza.com
  linkedin.com: 1inkedin.com l1nkedin.com linkedln.com linkedin-login.com
  twitter.com: tw1tter.com tvvitter.com twitter-verify.com
  dropbox.com: clropbox.com dr0pbox.com dropbox-login.com
  walmart.com: vvalmart.com walmart-account.com
  barclays.co.uk: bardays.co.uk barclays-secure.com
  bankofamerica.com: bankofamerica-verify.com bank0famerica.com
  wellsfargo.com: we11sfargo.com wellsfargo-login.com wellsfargo-alert.com
  chase.com: chase-verify.com chase-login.com chase-account.com
  target.com: target-login.com
  visa.com: visa-verification.com
  dhl.com: dhl-tracking.info dhl-delivery.net dhl-paket.info
  ups.com: ups-tracking.com
  usps.com: usps-tracking.com usps-delivery.net usps-parcel.info
  fedex.com: fedex-delivery.com f3dex.com
  hsbc.com: hsbc-login.co.uk h5bc.com
  ebay.com: e8ay.com ebay-login.net
  ubs.com: ubs-login.ch
  spotify.com: spot1fy.com spotify-billing.com
  coinbase.com: co1nbase.com coinbase-wallet.net coinbase-support.com c0inbase.com
  metamask.io: metamask-wallet.com
  gmail.com: gmail-login.com gma1l.com gmail.com.creou.dev
  yahoo.com: yah00.com yahoo-verify.com
  hotmail.com: h0tmail.com hotmaii.com
  outlook.com: 0utlook.com outlook-login.com
  icloud.com: icloud-login.com icloud-verify.net
  tesla.com: tesla-giveaway.com t3sla.com
  samsung.com: 5amsung.com samsung-account.net`)

/** Real names that share something with a known one; none is a look-alike. */
export const HONEST =
  names(`360.com 1and1.com 4chan.org 3m.com a1.net o2.com 7-eleven.com g2.com 24.com 5g.com 9gag.com 8x8.com
    4players.de 1password.com 500px.com 23andme.com 99designs.com 37signals.com 101domain.com 123rf.com
    2checkout.com gs1.org f5.com h1.co m1.com s7.ru e1.ru r7.com k12.com c4.com b3.com tf1.fr m6.fr pro7.de
    sat1.de rtl2.de k2.com a10networks.com box-office.com chase-law.com apple-farm.de stripe.dev apple.de
    apple.dev paypal.me google.dev amazon.jobs microsoft.io visa.de gmial.com gmai.com hotmial.com yaho.com
    outlok.com paypl.com gogle.com amazn.com facebok.com micosoft.com netflx.com googie.com hotel5.com
    mail-login.com web-support.de live-support.com web-login.de me-support.com my-account.com free-login.fr
    secure-login.com login-box.com account-manager.com support-team.com online-banking.com delivery-service.com
    parcel-tracking.com google-maps.org amazon-handmade.de microsoftonline.com facebookmail.com amazonses.com
    squarespace.com apple-pie.com applebees.com appleton.com pineapple.com snapple.com applegate.com
    targetsmart.com target-marketing.com ontarget.com targeted-labs.com chase-support.org chaseauto.com
    steeplechase.com purchase.com shell-script.org shellfish.com nutshell.com shell-service.com orange-county.com
    orangecounty.gov orangetheory.com blood-orange.de deltadental.com delta-airways.net deltafaucet.com
    ford-service.com fordham.org stanford.com oxford.com bradford.com nextdoor.com next-level.com nextgen.com
    nexteraenergy.com box-support.com boxing.com inbox-zero.com dropboxers.com bootstrap.com boots-outlet.com
    bootsnall.com skyscanner.net sky-support.com skyline.com blueskies.com square-support.com squareup.com
    squaremeal.co.uk times-square.com zoom-support.com zoominfo.com slackware.com slack-line.com slackline.de
    notions.com discovery.com discover-world.com discovertravel.com visa-service.de visa-service-berlin.de
    visaservice.com travelvisa.com visalia.com advisa.se gap-support.com gapyear.com stopgap.com ups-battery.com
    upsell.com upstart.com groups.com cups.com startups.com pushups.org dhl-fan.de dhlaw.com bp-consult.de
    ing-diba.de ing.dev ingenieur.de boeing.com sap-berater.de sapient.com sapphire.com sapling.com ibmadison.com
    gmc.com intelligence.com intelsat.com oracle-bones.com coracle.com siscom.de cisco-training.de
    sanfrancisco.com siemens-stadt.de bosch-service-mueller.de bosch-dienst.de bayern.de beyer.de bayerische.de
    basf-hotel.de audition.com auditor.com auditing.de google.acme.com slack.acme.com web.de.acme.com
    mail.ru.acme.com paypal.acme.com amazon.de shop.amazon-fans.de xn--mnchen-3ya.de xn--kln-sna.de
    xn--caf-dma.com xn--fiqs8s.com xn--80adxhks.com xn--e1afmkfd.xn--p1ai xn--bcher-kva.example acme-widgets.com
    kleinefirma.de mueller.de xyzcorp.com thebakery.net paperstreet.io example-firm.co.uk support.acme.com`)
