/** Common first names of many countries, without accents. */
export const FIRST_NAMES = new Set(
  `aaron abdullah abigail ada adam adriana agnes agnieszka ahmed aisha alan albert alejandro alessandro alex alexander
  alexandra alexey alice alicia ali amanda amelia amina amy ana anastasia andrea andreas andrew andrzej angela anita anja
  anna anne anneke annika antoine anthony anton antonio aoife arjun arthur astrid barbara beatriz ben benjamin bernard
  birgit bjorn boris brian bruno camille carla carlos carmen caroline catherine charles charlotte chiara chloe chris
  christian christina christine christoph claire claudia clara cristina daniel daniela david deborah diana diego dieter
  dmitri dominik donald dorothea edith eduardo edward elena elisabeth elizabeth ella emil emily emma enrique eric erik
  ethan eva fabian fatima felix fernando filip florian francesca francesco francisco frank frederik gabriel gabriela
  george georg gerhard giovanni giulia giuseppe grace gregor grzegorz guillaume gunther gustav hannah hans harald harry
  hassan heike heinz helen helena henrik henry hiroshi hugo ian ibrahim ines ingrid irene isabel isabella ivan jacek jack
  jacob jacques jakub james jan jane janusz javier jean jennifer jens jessica joan joanna joao johan johanna johannes
  john jonas jorge jose joseph joshua juan julia julian julie juliette jurgen kai karen karl karin karol katarzyna
  katharina kenji kevin klaus krzysztof kumar lars laura leo leon leonie li liam lina linda lisa louis louise lucas luca
  lucia luis luisa lukas lukasz magdalena malgorzata manuel marcel marcin marco marek margaret maria marie mario marta
  martin martina mary mateusz matteo matthew matthias max maximilian mehmet mei melissa mia michael michal michel miguel
  mikhail mohamed mohammed monica monika muhammad nadia nancy natalia natasha ngoc nicholas nicolas nicole niels nina noah
  olga oliver olivia omar oscar oyvind pablo paolo patricia patrick paul paula pauline pavel pedro peter petra philip
  philipp pierre piotr priya rachel rafael rahul ralf raul rebecca renate ricardo richard robert roberto roland ruth ryan
  sabine samantha samuel sandra sara sarah sebastian sergei silvia simon sofia sonja sophia sophie stefan stefanie stephan
  stephen steven susan susanne sven svetlana takashi tanja tatiana teresa theo thomas tim tobias tom tomas tomasz ulrich
  ursula ute valentina vera victor victoria vincent vladimir walter wei werner william wojciech wolfgang xavier yasmin
  yuki yusuf yvonne zofia zoe иван елена мария ольга анна дмитрии сергеи ελενη μαρια γιωργος`.split(/\s+/),
);
