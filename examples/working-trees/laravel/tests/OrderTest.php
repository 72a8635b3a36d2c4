<?php

use Illuminate\Contracts\Console\Kernel;
use Illuminate\Foundation\Testing\DatabaseTransactions;
use Illuminate\Foundation\Testing\TestCase;
use Illuminate\Support\Facades\DB;

class OrderTest extends TestCase
{
    use DatabaseTransactions;

    public function createApplication()
    {
        $app = require __DIR__.'/../bootstrap/app.php';
        $app->make(Kernel::class)->bootstrap();

        return $app;
    }

    public function test_an_order_is_kept()
    {
        DB::table('orders')->insert(['item' => 'tea']);
        $this->assertDatabaseHas('orders', ['item' => 'tea']);
    }

    public function test_the_database_has_the_migrations_of_this_tree()
    {
        $migrator = $this->app['migrator'];
        $files = $migrator->getMigrationFiles($this->app->databasePath('migrations'));
        $this->assertSame(array_keys($files), $migrator->getRepository()->getRan());
    }
}
